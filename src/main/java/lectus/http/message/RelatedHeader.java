package lectus.http.message;

import java.nio.charset.StandardCharsets;
import lectus.document.read.Piece;
import lectus.revision.RevisionId;

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
