package lectus.document;

import java.util.ArrayList;
import java.util.List;
import lectus.attachment.Attachment;
import lectus.attachment.AttachmentList;
import lectus.json.JsonBuffer;
import lectus.revision.EditBranch;

/** Writes the attachments of documents, some with their bytes. */
public final class AttachmentJson {
  private final AttachmentsShown shown;
  private final FollowingAttachments following;

  /**
   * @param following receives what is shown behind the document
   */
  public AttachmentJson(AttachmentsShown shown, FollowingAttachments following) {
    this.shown = shown;
    this.following = following;
  }

  /** Shows nothing behind the documents. */
  public AttachmentJson(AttachmentsShown shown) {
    this(shown, new FollowingAttachments());
  }

  /** Appends the attachments and closes the document, for a client that has no revision of it. */
  public void close(JsonBuffer out, AttachmentList attachments) {
    close(out, attachments, 0);
  }

  /** Appends the attachments and closes the document. */
  public void close(JsonBuffer out, AttachmentList attachments, EditBranch branch) {
    close(out, attachments, shown.knownPosition(branch));
  }

  private void close(JsonBuffer out, AttachmentList attachments, long knownPosition) {
    if (shown.bytes() == AttachmentsShown.Bytes.NAMED) {
      AttachmentStubs.appendNamed(out, attachments);
    } else if (!shown.showsBytes()) {
      AttachmentStubs.append(out, attachments, shown.encodings());
    } else if (!attachments.all().isEmpty()) {
      append(out, attachments, knownPosition);
    }
    DocumentJson.close(out);
  }

  private void append(JsonBuffer out, AttachmentList attachments, long knownPosition) {
    out.ascii(",\"_attachments\":{")
        .each(
            attachments.all(),
            it -> {
              if (shown.held().contains(it.content())) {
                AttachmentStubs.appendNamed(out, it);
                return;
              }
              AttachmentStubs.appendHead(out, it);
              appendBytes(out, it, shown.showsBytesOf(it, knownPosition));
              AttachmentStubs.appendEnd(out, it, shown.encodings());
            })
        .octet('}');
  }

  private void appendBytes(JsonBuffer out, Attachment attachment, boolean withBytes) {
    if (!withBytes) {
      out.ascii(",\"length\":").number(attachment.length()).ascii(",\"stub\":true");
    } else if (shown.bytes() == AttachmentsShown.Bytes.INLINE) {
      out.ascii(",\"data\":\"");
      AttachmentBytes.base64(attachment).mark(out);
      out.octet('"');
    } else {
      out.ascii(",\"length\":").number(attachment.length()).ascii(",\"follows\":true");
      following.add(attachment);
    }
  }

  /** The attachments whose bytes are to follow the document that is being written. */
  public static final class FollowingAttachments {
    private final List<Attachment> all = new ArrayList<>();

    void add(Attachment attachment) {
      all.add(attachment);
    }

    /** Forgets everything: the document is written again. */
    public void clear() {
      all.clear();
    }

    /** Returns the attachments of the document just written, and forgets them. */
    public List<Attachment> take() {
      List<Attachment> taken = List.copyOf(all);
      all.clear();
      return taken;
    }
  }
}
