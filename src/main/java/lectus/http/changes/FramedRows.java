package lectus.http.changes;

import io.vertx.core.buffer.Buffer;
import java.util.EnumMap;
import java.util.Map;
import lectus.changes.page.Rows;
import lectus.json.JsonBuffer;

/**
 * Formats rows, once for all consecutive listeners that get the same rows: the last bytes are kept,
 * unless they are of a long page. For one event loop.
 */
final class FramedRows {
  /** The most bytes that surround a row in any form. */
  private static final int FRAME_BYTES = 100;

  private final Map<FeedForm, Framed> last = new EnumMap<>(FeedForm.class);

  private record Framed(Rows<?> rows, int from, int to, boolean first, Buffer bytes) {
    boolean isFor(Rows<?> otherRows, int otherFrom, int otherTo, boolean otherFirst) {
      return rows == otherRows && from == otherFrom && to == otherTo && first == otherFirst;
    }
  }

  /**
   * Returns the rows from {@code from} up to {@code to}. The buffer is shared and must not be
   * changed.
   *
   * @param first whether the listener has received no row before
   */
  Buffer bytes(FeedForm form, Rows<?> rows, int from, int to, boolean first) {
    if (rows.areLong()) {
      return frame(form, rows, from, to, first);
    }
    Framed framed = last.get(form);
    if (framed == null || !framed.isFor(rows, from, to, first)) {
      framed = new Framed(rows, from, to, first, frame(form, rows, from, to, first));
      last.put(form, framed);
    }
    return framed.bytes();
  }

  private static Buffer frame(FeedForm form, Rows<?> rows, int from, int to, boolean first) {
    return Buffer.buffer(text(form, rows, from, to, first).toBytes());
  }

  /** Formats rows for one listener alone. */
  static JsonBuffer text(FeedForm form, Rows<?> rows, int from, int to, boolean first) {
    int bytes = rows.bytes(from, to) + FRAME_BYTES * (to - from);
    JsonBuffer out = new JsonBuffer(bytes);
    form.appendRows(rows, from, to, first, out);
    return out;
  }
}
