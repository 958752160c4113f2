package lectus.store.embedded.engine.commit;

import java.util.List;
import lectus.store.embedded.engine.read.SnapshotRegistry;

/**
 * The stored state that the next group builds on. The committer is the only writer, so between its
 * writes this is the published state.
 */
final class LatestState {
  private final SnapshotRegistry snapshots;
  private final AtomicValues atomicValues;

  LatestState(SnapshotRegistry snapshots, AtomicValues atomicValues) {
    this.snapshots = snapshots;
    this.atomicValues = atomicValues;
  }

  /** Returns cached values. They are ahead of the published state while a group is resolved. */
  AtomicValues atomicValues() {
    return atomicValues;
  }

  byte[] get(byte[] key) {
    return snapshots.reader().get(snapshots.published().state().pointReads(), key);
  }

  /** Returns the keys in [begin, end), or null if there are more than a few. */
  List<byte[]> fewKeys(byte[] begin, byte[] end) {
    return snapshots.reader().fewKeys(snapshots.published().state(), begin, end);
  }
}
