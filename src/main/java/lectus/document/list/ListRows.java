package lectus.document.list;

import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.tuple.ByteArrayUtil;
import java.util.Optional;
import lectus.database.DatabaseHandle;
import lectus.document.list.AllDocsQuery.ListKey;

/** The remaining rows of a list. Immutable: appending returns the rows that then remain. */
interface ListRows {
  boolean isFinished();

  /** Appends as many of the next rows as the writer's part takes. */
  ListRows append(ReadTransaction tx, DatabaseHandle db, ListRowWriter writer);

  /**
   * Turns keys of a list into bounds of a key range in the store. Ids compare as UTF-8 bytes; any
   * other JSON value sorts before all ids. Bounds outside the list are moved to its ends.
   */
  final class ListBounds {
    private ListBounds() {}

    /** Returns where the range begins; empty if the range is empty. */
    static Optional<byte[]> lowest(ListSource source, Optional<ListKey> bound, boolean inclusive) {
      byte[] begin = source.begin();
      if (bound.isEmpty() || bound.get().id().isEmpty()) {
        return Optional.of(begin);
      }
      String id = bound.get().id().get();
      return Optional.of(highestOf(begin, inclusive ? source.key(id) : source.keyAfter(id)));
    }

    /** Returns where the range ends; empty if the range is empty. */
    static Optional<byte[]> highest(ListSource source, Optional<ListKey> bound, boolean inclusive) {
      byte[] end = source.end();
      if (bound.isEmpty()) {
        return Optional.of(end);
      }
      return bound
          .get()
          .id()
          .map(id -> inclusive ? source.keyAfter(id) : source.key(id))
          .map(key -> ByteArrayUtil.compareUnsigned(key, end) < 0 ? key : end);
    }

    private static byte[] highestOf(byte[] one, byte[] other) {
      return ByteArrayUtil.compareUnsigned(one, other) > 0 ? one : other;
    }
  }
}
