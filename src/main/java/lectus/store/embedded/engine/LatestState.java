package lectus.store.embedded.engine;

import java.util.List;

/**
 * The stored state that the next group builds upon. The committer is the only writer, so between
 * its writes that is the published state.
 */
final class LatestState {
  private final SnapshotRegistry snapshots;
  private final AtomicValues atomicValues;

  LatestState(SnapshotRegistry snapshots, AtomicValues atomicValues) {
    this.snapshots = snapshots;
    this.atomicValues = atomicValues;
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
    return snapshots.reader().fewKeys(snapshots.published().state(), begin, end);
  }
}
