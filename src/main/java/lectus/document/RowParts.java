package lectus.document;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.Executor;
import lectus.json.JsonBuffer;

/**
 * The rows of a page, read and written in parts: by the thread that makes the page, and ahead of it
 * by others that have time.
 *
 * <p>How large rows are is only known once they are there, and one may have 8 MB. So the first part
 * is small and alone, and those behind it follow the size of the rows before. What is written ahead
 * is given up where it becomes large; those rows are written again, into the page itself.
 *
 * @param <R> what a row is made of
 */
public final class RowParts<R> implements AutoCloseable {
  private static final int FIRST_ROWS = 2;

  /** The size that a row is taken to have before one is known, in bytes of JSON. */
  private static final int FIRST_ROW_BYTES = 512;

  private static final int MOST_ROWS = 500;

  /** How many parts may be under way. */
  private static final int MOST_PARTS = 4;

  /** The size that a part is meant to have, in bytes of JSON: enough to be worth handing over. */
  private static final int USUAL_BYTES = 32 << 10;

  /** Beyond this many bytes of JSON a part that is written ahead is given up. */
  private static final int MOST_BYTES = 128 << 10;

  private final JsonBuffer page;
  private final int fullAt;
  private final Writing<R> writing;
  private final PartsAhead<Part<R>> parts;
  private int begun;
  private int appended;
  private long appendedBytes;

  /** Writes rows. Several threads do so at a time, each some rows of its own. */
  @FunctionalInterface
  public interface Writing<R> {
    void write(List<R> rows, WrittenRows to);
  }

  /** What is done around each row of the page. */
  public interface Frame<R> {
    void before(R row);

    void after(R row);
  }

  private record Part<R>(List<R> rows, WrittenRows written) {}

  /**
   * @param fullAt no further row is appended once {@code page} is so long
   */
  public RowParts(Executor helpers, JsonBuffer page, int fullAt, Writing<R> writing) {
    this.page = page;
    this.fullAt = fullAt;
    this.writing = writing;
    this.parts = new PartsAhead<>(helpers);
  }

  /** Appends rows until the page is full or there are no more. It may take more than it appends. */
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
    for (int size = nextSize(); size > 0 && rows.hasNext(); size = nextSize()) {
      List<R> part = new ArrayList<>(size);
      while (part.size() < size && rows.hasNext()) {
        part.add(rows.next());
      }
      begun += part.size();
      int bytes = (int) Math.min(MOST_BYTES, usualBytes() * (part.size() + 1L));
      parts.add(() -> write(part, WrittenRows.apart(part.size(), bytes, MOST_BYTES)));
    }
  }

  /** How many rows the next part has; 0 while the parts under way seem to be enough. */
  private int nextSize() {
    if (appended == 0 || parts.size() == MOST_PARTS) {
      return parts.size() == 0 ? FIRST_ROWS : 0;
    }
    long usual = usualBytes();
    long room = fullAt - page.length() - usual * (begun - appended);
    if (room <= 0) {
      return parts.size() == 0 ? 1 : 0;
    }
    long rows = Math.min(room / usual + 1, USUAL_BYTES / usual);
    return (int) Math.max(1, Math.min(MOST_ROWS, rows));
  }

  private long usualBytes() {
    return appended == 0 ? FIRST_ROW_BYTES : Math.max(1, appendedBytes / appended);
  }

  private Part<R> write(List<R> rows, WrittenRows written) {
    try {
      writing.write(rows, written);
    } catch (JsonBuffer.FullException large) {
      // The rows that are whole are of use.
    }
    return new Part<>(rows, written);
  }

  private void append(Part<R> part, Frame<R> frame) {
    for (int i = 0; i < part.rows.size() && !isFull(); i++) {
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

  /** Nobody begins what is left. */
  @Override
  public void close() {
    parts.cancel();
  }
}
