package lectus.document;

import java.util.Arrays;
import lectus.json.JsonBuffer;

/** Where rows are written into: a buffer of their own, to be copied row by row, or a page. */
public final class WrittenRows {
  private final JsonBuffer json;

  /** Where each row ends. */
  private int[] ends;

  private int count;

  private WrittenRows(JsonBuffer json, int rows) {
    this.json = json;
    this.ends = new int[rows];
  }

  /**
   * Rows in a buffer of their own.
   *
   * @param usualBytes of all rows
   * @param mostBytes beyond which {@link JsonBuffer.FullException} is thrown
   */
  static WrittenRows apart(int rows, int usualBytes, int mostBytes) {
    return new WrittenRows(JsonBuffer.atMost(mostBytes, usualBytes), rows);
  }

  /** Rows of any size, straight into a page. */
  static WrittenRows into(JsonBuffer page) {
    return new WrittenRows(page, 1);
  }

  /** The buffer that rows are written into; call {@link #endRow} after each. */
  public JsonBuffer json() {
    return json;
  }

  public void endRow() {
    if (count == ends.length) {
      ends = Arrays.copyOf(ends, 2 * count);
    }
    ends[count++] = json.length();
  }

  /** How many rows are whole. */
  int count() {
    return count;
  }

  void copy(int row, JsonBuffer to) {
    to.raw(json.array(), row == 0 ? 0 : ends[row - 1], ends[row]);
  }
}
