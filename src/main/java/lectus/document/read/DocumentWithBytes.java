package lectus.document.read;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.OptionalLong;
import lectus.attachment.Attachment;
import lectus.document.AttachmentBytes;
import lectus.document.DatabaseReads;
import lectus.document.FilledBody;
import lectus.document.PagedBody;
import lectus.json.JsonBuffer;
import lectus.revision.RevisionId;

/**
 * A document with the bytes of its attachments.
 *
 * @param isRelated whether they follow it in parts of their own
 * @param length of the body in bytes, if it is known
 */
public record DocumentWithBytes(
    RevisionId revision, boolean isRelated, OptionalLong length, PagedBody body) {

  static DocumentWithBytes of(
      DatabaseReads reads,
      RevisionId revision,
      JsonBuffer json,
      List<Attachment> following,
      String boundary) {
    if (following.isEmpty()) {
      json.octet('\n');
      return new DocumentWithBytes(
          revision, false, OptionalLong.empty(), FilledBody.of(reads, json));
    }
    JsonBuffer parts = new JsonBuffer(json.length());
    RelatedParts.append(parts, boundary, json.toBytes(), following);
    long length = parts.length();
    for (Attachment attachment : following) {
      length += attachment.storedLength() - AttachmentBytes.MARK_BYTES;
    }
    return new DocumentWithBytes(
        revision, true, OptionalLong.of(length), FilledBody.of(reads, parts));
  }

  /** Writes a document and the attachments that follow it, as {@code multipart/related}. */
  static final class RelatedParts {
    private RelatedParts() {}

    static void append(JsonBuffer out, String boundary, byte[] json, List<Attachment> following) {
      String delimiter = "\r\n--" + boundary;
      out.ascii("--").ascii(boundary).ascii("\r\nContent-Type: application/json\r\n\r\n");
      out.raw(json).ascii(delimiter);
      for (Attachment attachment : following) {
        out.raw(head(attachment).getBytes(StandardCharsets.UTF_8));
        AttachmentBytes.stored(attachment).mark(out);
        out.ascii(delimiter);
      }
      out.ascii("--");
    }

    private static String head(Attachment attachment) {
      return "\r\nContent-Disposition: attachment; filename=\""
          + line(attachment.name()).replace("\\", "\\\\").replace("\"", "\\\"")
          + "\"\r\nContent-Type: "
          + line(attachment.type())
          + "\r\nContent-Length: "
          + attachment.storedLength()
          + (attachment.gzipped() ? "\r\nContent-Encoding: gzip" : "")
          + "\r\n\r\n";
    }

    /** A text must not end the header in which it stands. */
    private static String line(String text) {
      return text.replaceAll("\\p{Cntrl}", " ");
    }
  }
}
