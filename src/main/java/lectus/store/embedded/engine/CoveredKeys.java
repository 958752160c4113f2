package lectus.store.embedded.engine;

import java.util.ArrayList;
import java.util.List;
import lectus.store.embedded.engine.CommitRequest.Mutation;
import lectus.store.embedded.engine.SnapshotRegistry.Published;

/**
 * The keys that a commit's clears cover. The thread that requests the commit lists them, so that
 * the committer need not read them. A list is valid until a write into its range.
 */
public final class CoveredKeys {
  public static final CoveredKeys NONE = new CoveredKeys(-1);

  /** The limit on the bytes of listed keys. The committer lists the rest. */
  private static final long MAX_BYTES = 4 << 20;

  private static final long BYTES_OF_A_KEY = 24;

  private final long version;

  /** One list for each clear of a range, in order. Null if the range has more than a few keys. */
  final List<List<byte[]>> lists = new ArrayList<>(0);

  private long bytes;

  private CoveredKeys(long version) {
    this.version = version;
  }

  /**
   * Reads what the committer will need. Values that atomic operations find are read as well, only
   * to bring them into the block cache: they may change until the committer's turn, but it will not
   * wait for the disk.
   */
  public static CoveredKeys list(
      CommitRequest request, SnapshotRegistry snapshots, AtomicValues values) {
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
      return switch (atomic.type()) {
        case SET_VERSIONSTAMPED_KEY, SET_VERSIONSTAMPED_VALUE -> false;
        default -> !values.mayRemember(atomic.key());
      };
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
    if (bytes > MAX_BYTES) {
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

  /** Returns the approximate memory that the lists take. */
  long bytes() {
    return bytes;
  }

  /** Returns the version at which the keys were listed. */
  long version() {
    return version;
  }

  /** Returns whether the clear of a range with this number, from 0, was listed. */
  boolean has(int number) {
    return number < lists.size();
  }
}
