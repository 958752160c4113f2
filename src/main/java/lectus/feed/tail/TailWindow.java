package lectus.feed.tail;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import lectus.feed.LivePage;
import lectus.feed.ResumePoint;

/**
 * The last pages of a live tail, without a gap between them. A reader joins the tail at a position
 * inside the window. For one thread at a time.
 */
public final class TailWindow<P extends ResumePoint<P>> {
  /** Bytes of rows kept beside the last page, which is kept whatever its size. */
  static final int MOST_BYTES = 64 << 10;

  static final int MOST_PAGES = 64;

  private final Deque<LivePage<P>> pages;
  private P start;
  private P end;
  private int bytes;

  private TailWindow(Deque<LivePage<P>> pages, P start, P end, int bytes) {
    this.pages = pages;
    this.start = start;
    this.end = end;
    this.bytes = bytes;
  }

  /** A window without a row, behind {@code at}. */
  public static <P extends ResumePoint<P>> TailWindow<P> startingAt(P at) {
    return new TailWindow<>(new ArrayDeque<>(), at, at, 0);
  }

  public TailWindow<P> copy() {
    return new TailWindow<>(new ArrayDeque<>(pages), start, end, bytes);
  }

  /**
   * @param page read from {@link #end}
   */
  public void append(LivePage<P> page) {
    end = page.next();
    if (page.rows().isEmpty()) {
      return;
    }
    pages.add(page);
    bytes += page.rows().json().length;
    while (pages.size() > 1 && (bytes > MOST_BYTES || pages.size() > MOST_PAGES)) {
      LivePage<P> oldest = pages.remove();
      bytes -= oldest.rows().json().length;
      start = oldest.next();
    }
  }

  /** How far the tail has come. */
  public P end() {
    return end;
  }

  /** Whether every row behind {@code position} that the tail has read is in the window. */
  public boolean covers(P position) {
    return start.compareTo(position) <= 0;
  }

  /** The pages with rows behind {@code position}, oldest first. */
  public List<LivePage<P>> pagesBehind(P position) {
    return pages.stream().filter(page -> page.next().compareTo(position) > 0).toList();
  }
}
