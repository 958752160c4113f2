package lectus.http;

import java.nio.charset.StandardCharsets;
import java.util.UUID;
import lectus.document.read.PartWriter.Piece;
import lectus.revision.RevisionId;

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

  /**
   * The headers of a part that is a document with its attachments behind it.
   *
   * @param before what comes before the headers
   * @param named whether the document and its revision are named, as in CouchDB's {@code _bulk_get}
   * @param inner boundary between the document and its attachments
   */
  record RelatedHeader(String before, boolean named, Boundary inner) implements Piece.Related {
    @Override
    public String boundary() {
      return inner.text();
    }

    @Override
    public byte[] before(String id, RevisionId revision) {
      String names =
          named ? "\r\nX-Doc-Id: " + line(id) + "\r\nX-Rev-Id: " + line(revision.toString()) : "";
      String type = "\r\nContent-Type: " + inner.contentType("multipart/related") + "\r\n\r\n";
      return (before + names + type).getBytes(StandardCharsets.UTF_8);
    }

    /** An id must not end the header in which it stands. */
    private static String line(String text) {
      return text.replaceAll("[\\p{Cntrl}]", " ");
    }
  }
}
