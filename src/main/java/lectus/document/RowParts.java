package lectus.document;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.Executor;
import lectus.json.JsonBuffer;

/**
 * The rows of a page, read and written in parts: by the thread that makes the page and, ahead of
 * it, by idle helper threads.
 *
 * <p>The size of a row is known only once it has been read, and a row may have 8 MB. So the first
 * part runs alone, with so many rows that most answers need no other: on a cluster each part is a
 * round trip. The size of later parts follows the rows seen so far. A part that grows too large
 * while it is written ahead ends there: its whole rows are kept, and the others are written again,
 * straight into the page.
 *
 * @param <R> the input of a row
 */
public final class RowParts<R> implements AutoCloseable {
  private static final int FIRST_ROWS = 64;

  /** Assumed size of a row until one is known, in bytes of JSON. */
  private static final int FIRST_ROW_BYTES = 512;

  private static final int MAX_ROWS = 500;

  /** Maximum number of parts under way. */
  private static final int MAX_PARTS = 4;

  /** Target size of a part, in bytes of JSON: large enough to be worth handing over. */
  private static final int USUAL_BYTES = 32 << 10;

  /** A part written ahead ends at this size, in bytes of JSON. */
  private static final int MAX_BYTES = 128 << 10;

  private final JsonBuffer page;
  private final int fullAt;
  private final Writing<R> writing;
  private final PartsAhead<Part<R>> parts;
  private final Deque<R> again = new ArrayDeque<>();
  private int begun;
  private int appended;
  private long appendedBytes;

  /** Writes rows. Several threads call it at the same time, each for its own rows. */
  @FunctionalInterface
  public interface Writing<R> {
    void write(List<R> rows, WrittenRows to);
  }

  /** Called before and after each row of the page. */
  public interface Frame<R> {
    void before(R row);

    void after(R row);
  }

  private record Part<R>(List<R> rows, WrittenRows written) {}

  /**
   * @param fullAt length of {@code page} at which no further row is appended
   */
  public RowParts(Executor helpers, JsonBuffer page, int fullAt, Writing<R> writing) {
    this.page = page;
    this.fullAt = fullAt;
    this.writing = writing;
    this.parts = new PartsAhead<>(helpers);
  }

  /**
   * Appends rows until the page is full or the rows are used up. It may consume more rows than it
   * appends.
   */
  public void append(Iterator<R> rows, Frame<R> frame) {
    while (!isFull()) {
      begin(rows);
      if (parts.size() == 0) {
        return;
      }
      append(parts.take(), frame);
    }
  }

  private void begin(Iterator<R> rows) {
    for (int size = nextSize(); size > 0 && hasNext(rows); size = nextSize()) {
      List<R> part = new ArrayList<>(size);
      while (part.size() < size && hasNext(rows)) {
        part.add(again.isEmpty() ? rows.next() : again.remove());
      }
      begun += part.size();
      int most = (int) Math.min(MAX_BYTES, (long) fullAt - page.length() + USUAL_BYTES);
      int bytes = (int) Math.min(most, usualBytes() * (part.size() + 1L));
      parts.add(() -> write(part, WrittenRows.apart(part.size(), bytes, most)));
    }
  }

  private boolean hasNext(Iterator<R> rows) {
    return !again.isEmpty() || rows.hasNext();
  }

  /** Returns the number of rows in the next part; 0 while the parts under way seem to be enough. */
  private int nextSize() {
    if (appended == 0 || parts.size() == MAX_PARTS) {
      return parts.size() == 0 ? FIRST_ROWS : 0;
    }
    long usual = usualBytes();
    long room = fullAt - page.length() - usual * (begun - appended);
    if (room <= 0) {
      return parts.size() == 0 ? 1 : 0;
    }
    long rows = Math.min(room / usual + 1, USUAL_BYTES / usual);
    return (int) Math.max(1, Math.min(MAX_ROWS, rows));
  }

  private long usualBytes() {
    return appended == 0 ? FIRST_ROW_BYTES : Math.max(1, appendedBytes / appended);
  }

  private Part<R> write(List<R> rows, WrittenRows written) {
    try {
      writing.write(rows, written);
    } catch (JsonBuffer.FullException large) {
      // The complete rows are kept.
    }
    return new Part<>(rows, written);
  }

  private void append(Part<R> part, Frame<R> frame) {
    for (int i = 0; i < part.rows.size() && !isFull(); i++) {
      if (i > part.written.count() && parts.size() == 0) {
        // Their size is known better now.
        for (int j = part.rows.size() - 1; j >= i; j--) {
          again.addFirst(part.rows.get(j));
        }
        begun -= part.rows.size() - i;
        return;
      }
      R row = part.rows.get(i);
      int before = page.length();
      frame.before(row);
      if (i < part.written.count()) {
        part.written.copy(i, page);
      } else {
        writing.write(List.of(row), WrittenRows.into(page));
      }
      frame.after(row);
      appended++;
      appendedBytes += page.length() - before;
    }
  }

  private boolean isFull() {
    return page.length() >= fullAt;
  }

  /** Cancels the parts that nobody has begun. */
  @Override
  public void close() {
    parts.cancel();
  }

  /**
   * Limits on what one transaction reads for a long answer. A page has to be read within five
   * seconds and fit into memory. It ends after the row that reaches a limit.
   *
   * @param rows rows read at once
   * @param bodies rows read at once where each row has a body
   * @param bytes bytes of the answer
   */
  public record PageLimits(int rows, int bodies, int bytes) {
    public static final PageLimits DEFAULT = new PageLimits(2_000, 400, 192 * 1024);

    public PageLimits {
      if (rows < 1 || bodies < 1 || bytes < 1) {
        throw new IllegalArgumentException("A page holds at least one row");
      }
    }

    public int rows(boolean withBodies) {
      return withBodies ? bodies : rows;
    }
  }
}
