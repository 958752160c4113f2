package lectus.store.embedded.engine;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The stored state that the next group builds upon. The committer is the only writer, so between
 * its writes that is the published state.
 */
final class LatestState {
  /** Clears of up to so many keys become deletions of these keys, larger ones a range tombstone. */
  static final int FEW_KEYS = 256;

  private final SnapshotRegistry snapshots;
  private final AtomicValues atomicValues = new AtomicValues();

  LatestState(SnapshotRegistry snapshots) {
    this.snapshots = snapshots;
  }

  /** Values that need no read; ahead of the published state while a group is resolved. */
  AtomicValues atomicValues() {
    return atomicValues;
  }

  byte[] get(byte[] key) {
    return snapshots.reader().get(snapshots.published().state().pointReads(), key);
  }

  /** The keys in [begin, end), or null if there are more than a few. */
  List<byte[]> fewKeys(byte[] begin, byte[] end) {
    if (Arrays.compareUnsigned(begin, end) >= 0) {
      return List.of();
    }
    List<byte[]> keys = new ArrayList<>();
    boolean all =
        snapshots
            .reader()
            .forEachKey(snapshots.published().state(), begin, end, keys::add, FEW_KEYS);
    return all ? keys : null;
  }
}
