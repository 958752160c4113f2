package lectus.http.multipart;

import java.util.UUID;

/**
 * What stands between the parts of an answer. JSON has no line end inside a string, so no document
 * can hold a delimiter line.
 */
public record Boundary(String text) {
  /** 32 hex digits. */
  public static Boundary random() {
    return new Boundary(UUID.randomUUID().toString().replace("-", ""));
  }

  /** CouchDB's {@code _bulk_get} has two more hyphens in front. */
  public static Boundary randomOfBulk() {
    return new Boundary("--" + random().text);
  }

  /** The value of Content-Type. */
  public String contentType(String mediaType) {
    return mediaType + "; boundary=\"" + text + '"';
  }

  /** Two hyphens and the boundary, without line ends. */
  String delimiter() {
    return "--" + text;
  }
}
