package lectus.document.read;

import java.util.ArrayDeque;
import java.util.Deque;
import lectus.attachment.ByteSource;
import lectus.attachment.StoredBytes;
import lectus.attachment.Unzipped;
import lectus.document.DatabaseReads;
import lectus.document.PagedBody;
import lectus.json.JsonBuffer;

/** Pages with the bytes of attachments put into them, which are read piece by piece. */
final class FilledBody implements PagedBody {
  /** Enough bytes for a part of the answer. */
  private static final int PART_BYTES = 64 << 10;

  private final DatabaseReads reads;
  private final FilledPages pages;
  private final Inserts inserts = new Inserts();
  private final Deque<Inserts.Insert> waiting = new ArrayDeque<>();
  private JsonBuffer page = new JsonBuffer(0);
  private int written;
  private boolean morePages = true;
  private ByteSource current = () -> new byte[0];

  FilledBody(DatabaseReads reads, FilledPages pages) {
    this.reads = reads;
    this.pages = pages;
  }

  @Override
  public boolean appendNext(JsonBuffer out) {
    int enough = out.length() + PART_BYTES;
    while (out.length() < enough && !isAtEnd()) {
      appendSome(out);
    }
    return !isAtEnd();
  }

  private boolean isAtEnd() {
    return !morePages && waiting.isEmpty() && written == page.length();
  }

  private void appendSome(JsonBuffer out) {
    byte[] bytes = current.next();
    if (bytes.length > 0) {
      out.raw(bytes);
    } else if (!waiting.isEmpty()) {
      Inserts.Insert next = waiting.remove();
      appendPage(out, next.offset());
      current = open(next);
    } else if (written < page.length()) {
      appendPage(out, page.length());
    } else {
      nextPage();
    }
  }

  private void appendPage(JsonBuffer out, int to) {
    out.raw(page.array(), written, to);
    written = to;
  }

  private void nextPage() {
    page = new JsonBuffer(PART_BYTES);
    written = 0;
    inserts.clear();
    morePages = pages.appendNext(page, inserts);
    waiting.addAll(inserts.all());
  }

  private ByteSource open(Inserts.Insert insert) {
    ByteSource stored =
        new StoredBytes(
            reads::read, insert.attachment().content(), 0, insert.attachment().storedLength());
    if (!insert.base64()) {
      return stored;
    }
    return new Base64Bytes(insert.attachment().gzipped() ? new Unzipped(stored) : stored);
  }
}
