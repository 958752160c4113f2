package lectus.http.changes;

import java.util.Arrays;
import lectus.changes.page.Rows;

/**
 * The bytes of single rows, extracted once for all consecutive listeners that get the same page:
 * those of the last page are kept, unless it is a long one. For one event loop.
 */
final class RowMessages {
  private Rows<?> last = Rows.none();
  private byte[][] messages = {};

  /** Returns a row's JSON, which must not be changed. */
  byte[] of(Rows<?> rows, int row) {
    if (rows.areLong()) {
      return cutOut(rows, row);
    }
    if (rows != last) {
      last = rows;
      messages = new byte[rows.size()][];
    }
    if (messages[row] == null) {
      messages[row] = cutOut(rows, row);
    }
    return messages[row];
  }

  private static byte[] cutOut(Rows<?> rows, int row) {
    return Arrays.copyOfRange(rows.json(), rows.start(row), rows.end(row));
  }
}
