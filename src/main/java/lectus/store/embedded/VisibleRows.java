package lectus.store.embedded;

import lectus.store.embedded.engine.read.Cursor;
import lectus.store.embedded.engine.read.StoreSnapshot;

/**
 * The rows that a read sees: the stored rows under the transaction's own writes.
 *
 * @param own the own writes, or null if the read does not see them
 */
record VisibleRows(StoreSnapshot snapshot, WriteMap own) {

  /**
   * @param limit the most rows that the caller takes; negative for all
   */
  Cursor scan(byte[] begin, byte[] end, boolean reverse, int limit) {
    return isOwn(begin, end)
        ? new MergedCursor(snapshot, own, begin, end, reverse)
        : snapshot.scan(begin, end, reverse, limit < 0 ? Integer.MAX_VALUE : limit);
  }

  private boolean isOwn(byte[] begin, byte[] end) {
    return own != null && KeySpace.compare(begin, end) < 0 && own.touches(begin, end);
  }
}
