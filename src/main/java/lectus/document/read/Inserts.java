package lectus.document.read;

import java.util.ArrayList;
import java.util.List;
import lectus.attachment.Attachment;
import lectus.json.JsonBuffer;

/** Where in an answer's page the bytes of attachments go, which are not read with it. */
public final class Inserts {
  private final List<Insert> all = new ArrayList<>();
  private final List<Attachment> following = new ArrayList<>();

  /**
   * @param offset in the page
   * @param base64 whether they are written as base64, decompressed; otherwise as they are stored
   */
  record Insert(int offset, Attachment attachment, boolean base64) {}

  List<Insert> all() {
    return all;
  }

  /** Forgets everything: the page is written again. */
  public void clear() {
    all.clear();
    following.clear();
  }

  void addAll(Inserts others) {
    all.addAll(others.all);
  }

  void addBase64(JsonBuffer page, Attachment attachment) {
    all.add(new Insert(page.length(), attachment, true));
  }

  void addStored(JsonBuffer page, Attachment attachment) {
    all.add(new Insert(page.length(), attachment, false));
  }

  /** Notes an attachment whose bytes are to follow the document that is being written. */
  void follows(Attachment attachment) {
    following.add(attachment);
  }

  /** Returns the attachments that are to follow the document just written. */
  List<Attachment> takeFollowing() {
    List<Attachment> taken = List.copyOf(following);
    following.clear();
    return taken;
  }

  /** Returns the length of the page with everything inserted as it is stored, in bytes. */
  long length(JsonBuffer page) {
    return page.length() + all.stream().mapToLong(it -> it.attachment().storedLength()).sum();
  }
}
