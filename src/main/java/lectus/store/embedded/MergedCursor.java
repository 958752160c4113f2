package lectus.store.embedded;

import java.util.Iterator;
import java.util.Map;
import java.util.NavigableMap;
import lectus.store.embedded.engine.read.Cursor;
import lectus.store.embedded.engine.read.StoreSnapshot;

/**
 * Walks the stored rows of a range merged with the transaction's own writes. Fails with 1036 on
 * reaching an unreadable range. Skips wide clears, so a cleared range costs one seek however many
 * rows it holds.
 */
final class MergedCursor implements Cursor {
  private final StoreSnapshot snapshot;
  private final WriteMap writes;
  private final byte[] begin;
  private final byte[] end;
  private final boolean reverse;

  private final Iterator<Map.Entry<byte[], KeyState>> ownRows;
  private final Iterator<Map.Entry<byte[], byte[]>> clears;

  /** The near side of the nearest unreadable range, or null. */
  private final byte[] unreadable;

  private Map.Entry<byte[], KeyState> own;
  private Cursor stored;
  private byte[] storedKey;

  /** The end of the stored rows opened so far, in the direction of the walk. */
  private byte[] opened;

  private boolean hasNarrowClears;
  private boolean ownIsDone;
  private boolean storedIsDone;

  private byte[] key;

  /** The current row's value if it is an own write, otherwise null. */
  private byte[] ownValue;

  MergedCursor(StoreSnapshot snapshot, WriteMap writes, byte[] begin, byte[] end, boolean reverse) {
    this.snapshot = snapshot;
    this.writes = writes;
    this.begin = begin;
    this.end = end;
    this.reverse = reverse;
    ownRows = inOrder(writes.states(begin, end));
    clears = inOrder(writes.cleared(begin, end));
    unreadable = nearestUnreadable();
    opened = reverse ? end : begin;
    ownIsDone = true;
    storedIsDone = true;
  }

  private <V> Iterator<Map.Entry<byte[], V>> inOrder(NavigableMap<byte[], V> map) {
    return (reverse ? map.descendingMap() : map).entrySet().iterator();
  }

  private byte[] nearestUnreadable() {
    var places = writes.unreadable(begin, end);
    if (places.isEmpty()) {
      return null;
    }
    return reverse ? places.lastEntry().getValue() : places.firstKey();
  }

  @Override
  public boolean next() {
    while (true) {
      stepOwn();
      stepStored();
      if (own == null && storedKey == null) {
        checkReadable(null);
        return false;
      }
      int order = order();
      key = order <= 0 ? own.getKey() : storedKey;
      checkReadable(key);
      ownIsDone = order <= 0;
      storedIsDone = order >= 0;
      if (order > 0) {
        ownValue = null;
        return true;
      }
      ownValue = valueOfOwn(order == 0);
      if (ownValue != null) {
        return true;
      }
    }
  }

  /**
   * Returns a negative number if the own row comes first, positive if the stored row does, 0 for
   * the same key.
   */
  private int order() {
    if (own == null) {
      return 1;
    }
    if (storedKey == null) {
      return -1;
    }
    int order = KeySpace.compare(own.getKey(), storedKey);
    return reverse ? -order : order;
  }

  private byte[] valueOfOwn(boolean isStored) {
    KeyState state = own.getValue();
    if (state.isUnreadable()) {
      throw StoreError.ACCESSED_UNREADABLE.exception();
    }
    return state.over(isStored && state.isDependent() ? stored.value() : null);
  }

  private void checkReadable(byte[] reached) {
    if (unreadable == null) {
      return;
    }
    boolean stepsIn =
        reached == null
            || (reverse
                ? KeySpace.compare(reached, unreadable) < 0
                : KeySpace.compare(reached, unreadable) >= 0);
    if (stepsIn) {
      throw StoreError.ACCESSED_UNREADABLE.exception();
    }
  }

  private void stepOwn() {
    if (ownIsDone) {
      own = ownRows.hasNext() ? ownRows.next() : null;
      ownIsDone = false;
    }
  }

  private void stepStored() {
    if (!storedIsDone) {
      return;
    }
    storedIsDone = false;
    storedKey = null;
    while (stored != null || openNextGap()) {
      while (stored.next()) {
        byte[] candidate = stored.key();
        if (!hasNarrowClears || !writes.isCleared(candidate)) {
          storedKey = candidate;
          return;
        }
      }
      stored.close();
      stored = null;
    }
  }

  /** Opens the stored rows up to the next wide clear. */
  private boolean openNextGap() {
    while (KeySpace.compare(reverse ? begin : opened, reverse ? opened : end) < 0) {
      byte[] from = reverse ? begin : opened;
      byte[] to = reverse ? opened : end;
      opened = reverse ? begin : end;
      Map.Entry<byte[], byte[]> clear = nextWideClear();
      if (clear != null && reverse) {
        opened = clear.getKey();
        from = KeySpace.max(from, KeySpace.min(clear.getValue(), to));
      } else if (clear != null) {
        opened = clear.getValue();
        to = KeySpace.min(to, KeySpace.max(clear.getKey(), from));
      }
      if (KeySpace.compare(from, to) < 0) {
        stored = snapshot.scan(from, to, reverse, 1);
        return true;
      }
    }
    return false;
  }

  private Map.Entry<byte[], byte[]> nextWideClear() {
    while (clears.hasNext()) {
      Map.Entry<byte[], byte[]> clear = clears.next();
      if (!KeySpace.isSingle(clear.getKey(), clear.getValue())) {
        return clear;
      }
      hasNarrowClears = true;
    }
    return null;
  }

  /** Returns whether the current row is an own write. */
  boolean isOwn() {
    return ownValue != null;
  }

  @Override
  public byte[] key() {
    return ownValue == null ? key : key.clone();
  }

  @Override
  public byte[] value() {
    return ownValue == null ? stored.value() : ownValue.clone();
  }

  @Override
  public void close() {
    if (stored != null) {
      stored.close();
      stored = null;
    }
  }
}
