package lectus.http.message;

/** The headers before the content of a part in an answer, with the line breaks on both sides. */
final class PartHeader {
  static final String DOCUMENT = "\r\nContent-Type: application/json\r\n\r\n";
  static final String ERROR = "\r\nContent-Type: application/json; error=\"true\"\r\n\r\n";

  private PartHeader() {}
}
