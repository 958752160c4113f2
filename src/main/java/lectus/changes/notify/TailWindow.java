package lectus.changes.notify;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import lectus.changes.page.LivePage.TailPage;
import lectus.changes.page.LivePage.ViewPage;
import lectus.changes.page.ResumePoint;
import lectus.changes.page.Rows;

/**
 * The last pages of a live tail, without gaps, beginning with the first page that was read. A
 * reader joins the tail at a position inside the window. Not thread-safe.
 */
public final class TailWindow<P extends ResumePoint<P>> {
  /** Bytes of rows kept besides the last page, which is kept unless it is a long one. */
  static final int MAX_BYTES = 64 << 10;

  static final int MAX_PAGES = 64;

  private final Deque<Kept<P>> pages = new ArrayDeque<>();
  private P start;
  private long bytes;

  private record Kept<P extends ResumePoint<P>>(TailPage<P> page, long bytes) {}

  /**
   * @param page read where the last one ended
   */
  public void append(TailPage<P> page) {
    start = start == null ? page.from() : start;
    if (page.views().isEmpty()) {
      return;
    }
    if (isLong(page)) {
      pages.clear();
      bytes = 0;
      start = page.next();
      return;
    }
    Kept<P> newest = new Kept<>(page, bytesOf(page));
    pages.add(newest);
    bytes += newest.bytes();
    while (pages.size() > 1 && (bytes > MAX_BYTES || pages.size() > MAX_PAGES)) {
      Kept<P> oldest = pages.remove();
      bytes -= oldest.bytes();
      start = oldest.page().next();
    }
  }

  private static boolean isLong(TailPage<?> page) {
    return page.views().values().stream()
        .anyMatch(it -> it instanceof ViewPage.Shown<?> shown && shown.rows().areLong());
  }

  /** Equal rows, which many views may have, count once. */
  private static long bytesOf(TailPage<?> page) {
    return page.views().values().stream()
        .filter(ViewPage.Shown.class::isInstance)
        .map(it -> ((ViewPage.Shown<?>) it).rows())
        .distinct()
        .mapToLong(TailWindow::bytesOf)
        .sum();
  }

  private static long bytesOf(Rows<?> rows) {
    return rows.bytes(0, rows.size());
  }

  /** Whether the window has every row after {@code position} that the tail has read. */
  public boolean covers(P position) {
    return start == null || start.compareTo(position) <= 0;
  }

  /** Returns the pages with something after {@code position}, oldest first. */
  public List<TailPage<P>> pagesBehind(P position) {
    return pages.stream()
        .map(Kept::page)
        .filter(page -> page.next().compareTo(position) > 0)
        .toList();
  }
}
