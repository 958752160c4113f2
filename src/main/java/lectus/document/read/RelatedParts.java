package lectus.document.read;

import java.nio.charset.StandardCharsets;
import java.util.List;
import lectus.attachment.Attachment;
import lectus.document.AttachmentBytes;
import lectus.json.JsonBuffer;

/** Writes a document and the attachments that follow it, as {@code multipart/related}. */
final class RelatedParts {
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
