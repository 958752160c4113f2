package lectus.document;

import lectus.attachment.Attachment;
import lectus.attachment.AttachmentList;
import lectus.json.JsonBuffer;

/** Writes attachments in CouchDB's order of members, each without its bytes. */
public final class AttachmentStubs {
  private AttachmentStubs() {}

  /**
   * Appends a document's {@code _attachments}, with a comma before; nothing if there are none.
   *
   * @param encodings whether to show how the bytes are stored
   */
  public static void append(JsonBuffer out, AttachmentList attachments, boolean encodings) {
    if (attachments.all().isEmpty()) {
      return;
    }
    out.ascii(",\"_attachments\":{")
        .each(
            attachments.all(),
            it -> {
              appendHead(out, it);
              out.ascii(",\"length\":").number(it.length()).ascii(",\"stub\":true");
              appendEnd(out, it, encodings);
            })
        .octet('}');
  }

  /** Appends the same with SHA-256 in place of MD5: stubs that another database may take. */
  public static void appendNamed(JsonBuffer out, AttachmentList attachments) {
    if (attachments.all().isEmpty()) {
      return;
    }
    out.ascii(",\"_attachments\":{").each(attachments.all(), it -> appendNamed(out, it)).octet('}');
  }

  static void appendNamed(JsonBuffer out, Attachment attachment) {
    appendHead(out, attachment, attachment.content().digest());
    out.ascii(",\"length\":").number(attachment.length()).ascii(",\"stub\":true");
    appendEnd(out, attachment, true);
  }

  /** Appends the name and what comes before the length, the data or the stub. */
  public static void appendHead(JsonBuffer out, Attachment attachment) {
    appendHead(out, attachment, attachment.md5().digest());
  }

  private static void appendHead(JsonBuffer out, Attachment attachment, String digest) {
    out.string(attachment.name()).ascii(":{\"content_type\":").string(attachment.type());
    out.ascii(",\"revpos\":").number(attachment.position());
    out.ascii(",\"digest\":").string(digest);
  }

  /** Appends what comes after these, and the end of the attachment. */
  public static void appendEnd(JsonBuffer out, Attachment attachment, boolean encodings) {
    if (encodings && attachment.gzipped()) {
      out.ascii(",\"encoding\":\"gzip\",\"encoded_length\":").number(attachment.storedLength());
    }
    out.octet('}');
  }
}
