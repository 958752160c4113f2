package lectus.http.multipart;

/** What stands before the content of a part in an answer, line ends on both sides included. */
final class PartHeader {
  static final String DOCUMENT = "\r\nContent-Type: application/json\r\n\r\n";
  static final String ERROR = "\r\nContent-Type: application/json; error=\"true\"\r\n\r\n";

  private PartHeader() {}
}
