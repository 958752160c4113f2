package lectus.http.message;

import java.util.UUID;

/**
 * The boundary between the parts of an answer. JSON has no line breaks inside strings, so no
 * document can contain a delimiter line.
 */
public record Boundary(String text) {
  /** Returns a boundary of 32 hex digits. */
  public static Boundary random() {
    return new Boundary(UUID.randomUUID().toString().replace("-", ""));
  }

  /** Returns a boundary with two more hyphens in front, as in CouchDB's {@code _bulk_get}. */
  public static Boundary randomOfBulk() {
    return new Boundary("--" + random().text);
  }

  /** Returns the value of Content-Type. */
  public String contentType(String mediaType) {
    return mediaType + "; boundary=\"" + text + '"';
  }

  /** Returns two hyphens and the boundary, without line breaks. */
  String delimiter() {
    return "--" + text;
  }

  /** The headers before the content of a part in an answer, with the line breaks on both sides. */
  static final class PartHeader {
    static final String DOCUMENT = "\r\nContent-Type: application/json\r\n\r\n";
    static final String ERROR = "\r\nContent-Type: application/json; error=\"true\"\r\n\r\n";

    private PartHeader() {}
  }
}
