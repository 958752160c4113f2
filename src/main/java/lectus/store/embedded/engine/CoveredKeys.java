package lectus.store.embedded.engine;

import com.apple.foundationdb.MutationType;
import java.util.ArrayList;
import java.util.List;

/**
 * The keys that a commit's clears cover, listed by the thread that asks for the commit, so that the
 * committer need not read them. A list is true until somebody writes into its range.
 */
final class CoveredKeys {
  /** Nothing is known. */
  static final CoveredKeys NONE = new CoveredKeys(-1);

  /** Beyond so many bytes of keys the committer lists what is left. */
  private static final long MOST_BYTES = 4 << 20;

  private static final long BYTES_OF_A_KEY = 24;

  private final long version;

  /** One list for each clear of a range, in order; null: the range has more than a few keys. */
  private final List<List<byte[]>> lists = new ArrayList<>(0);

  private long bytes;

  private CoveredKeys(long version) {
    this.version = version;
  }

  /**
   * Reads what the committer will ask for. Values that atomic operations find are read, too, into
   * the block cache: they may change until the committer's turn, but it will not wait for the disk.
   */
  static CoveredKeys list(CommitRequest request, SnapshotRegistry snapshots, AtomicValues values) {
    List<Mutation> reading = new ArrayList<>(0);
    for (Mutation mutation : request.mutations()) {
      if (reads(mutation, values)) {
        reading.add(mutation);
      }
    }
    return reading.isEmpty() ? NONE : list(reading, snapshots);
  }

  private static boolean reads(Mutation mutation, AtomicValues values) {
    if (mutation instanceof Mutation.Atomic atomic) {
      return atomic.type() != MutationType.SET_VERSIONSTAMPED_KEY
          && atomic.type() != MutationType.SET_VERSIONSTAMPED_VALUE
          && !values.mayRemember(atomic.key());
    }
    return mutation instanceof Mutation.Clear clear && !clear.isOfOneKey();
  }

  private static CoveredKeys list(List<Mutation> reading, SnapshotRegistry snapshots) {
    Published newest = snapshots.holdNewest();
    try {
      CoveredKeys covered = new CoveredKeys(newest.version());
      for (Mutation mutation : reading) {
        if (mutation instanceof Mutation.Clear clear) {
          covered.add(clear, snapshots.reader(), newest.state());
        } else if (mutation instanceof Mutation.Atomic atomic) {
          snapshots.reader().get(newest.state().pointReads(), atomic.key());
        }
      }
      return covered;
    } finally {
      snapshots.release(newest.state());
    }
  }

  private void add(Mutation.Clear clear, StoreReader reader, StoreState state) {
    if (bytes > MOST_BYTES) {
      return;
    }
    List<byte[]> keys = reader.fewKeys(state, clear.begin(), clear.end());
    lists.add(keys);
    if (keys != null) {
      for (byte[] key : keys) {
        bytes += key.length + BYTES_OF_A_KEY;
      }
    }
  }

  /** About how much memory the lists take. */
  long bytes() {
    return bytes;
  }

  /** The version at which the keys were listed. */
  long version() {
    return version;
  }

  /** Whether the clear of a range with this number, counted from 0, was listed. */
  boolean has(int number) {
    return number < lists.size();
  }

  /** The keys in its range, or null if there are more than a few. */
  List<byte[]> of(int number) {
    return lists.get(number);
  }
}
