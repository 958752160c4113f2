package lectus.document;

import lectus.attachment.ByteSource;
import lectus.json.JsonBuffer;

/** Pages with the bytes of attachments in place of their marks, read piece by piece. */
public final class FilledBody implements PagedBody {
  /** Enough bytes for a part of the answer. */
  private static final int PART_BYTES = 64 << 10;

  private static final ByteSource NOTHING = () -> new byte[0];

  private final DatabaseReads reads;
  private final PagedBody pages;
  private JsonBuffer page = new JsonBuffer(0);
  private int written;
  private boolean morePages = true;
  private ByteSource current = NOTHING;
  private boolean isWithinBytes;

  /**
   * @param pages with marks ({@link AttachmentBytes})
   */
  public FilledBody(DatabaseReads reads, PagedBody pages) {
    this.reads = reads;
    this.pages = pages;
  }

  /** Returns a body of one page. */
  public static FilledBody of(DatabaseReads reads, JsonBuffer page) {
    FilledBody body = new FilledBody(reads, out -> false);
    body.page = page;
    body.morePages = false;
    return body;
  }

  @Override
  public boolean appendNext(JsonBuffer out) {
    int enough = out.length() + PART_BYTES;
    while (out.length() < enough && !isAtEnd()) {
      appendSome(out);
    }
    return !isAtEnd();
  }

  /** The page is kept while the bytes are sent that stand in it. */
  @Override
  public long keptBytes() {
    return page.length();
  }

  private boolean isAtEnd() {
    return !morePages && !isWithinBytes && written == page.length();
  }

  private void appendSome(JsonBuffer out) {
    if (isWithinBytes) {
      byte[] bytes = current.next();
      out.raw(bytes);
      isWithinBytes = bytes.length > 0;
    } else if (written < page.length()) {
      appendPage(out);
    } else {
      nextPage();
    }
  }

  /** Appends the page up to the next mark, and opens what that stands for. */
  private void appendPage(JsonBuffer out) {
    int mark = AttachmentBytes.firstMark(page.array(), written, page.length());
    out.raw(page.array(), written, mark);
    written = mark;
    if (mark < page.length()) {
      open(mark);
    }
  }

  private void open(int mark) {
    current = AttachmentBytes.markedAt(page.array(), mark).open(reads);
    isWithinBytes = true;
    written += AttachmentBytes.MARK_BYTES;
  }

  private void nextPage() {
    page = new JsonBuffer(PART_BYTES);
    written = 0;
    current = NOTHING;
    morePages = pages.appendNext(page);
  }
}
