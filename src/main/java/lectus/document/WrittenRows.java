package lectus.document;

import java.util.Arrays;
import lectus.json.JsonBuffer;

/**
 * The destination of written rows: a separate buffer, copied later row by row, or the page itself.
 */
public final class WrittenRows {
  private final JsonBuffer json;

  /** The offset at which each row ends. */
  private int[] ends;

  private int count;

  private WrittenRows(JsonBuffer json, int rows) {
    this.json = json;
    this.ends = new int[rows];
  }

  /**
   * Creates a separate buffer for rows.
   *
   * @param usualBytes expected size of all rows
   * @param mostBytes size beyond which {@link JsonBuffer.FullException} is thrown
   */
  static WrittenRows apart(int rows, int usualBytes, int mostBytes) {
    return new WrittenRows(JsonBuffer.atMost(mostBytes, usualBytes), rows);
  }

  /** Writes rows of any size straight into a page. */
  static WrittenRows into(JsonBuffer page) {
    return new WrittenRows(page, 1);
  }

  /** Returns the buffer to write rows to; call {@link #endRow} after each row. */
  public JsonBuffer json() {
    return json;
  }

  public void endRow() {
    if (count == ends.length) {
      ends = Arrays.copyOf(ends, 2 * count);
    }
    ends[count++] = json.length();
  }

  /** Returns the number of complete rows. */
  int count() {
    return count;
  }

  void copy(int row, JsonBuffer to) {
    to.raw(json.array(), row == 0 ? 0 : ends[row - 1], ends[row]);
  }
}
