package lectus.document;

import java.util.ArrayList;
import java.util.List;
import lectus.attachment.Attachment;

/** The attachments whose bytes are to follow the document that is being written. */
public final class FollowingAttachments {
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
