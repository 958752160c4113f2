package lectus.store.embedded;

import com.apple.foundationdb.MutationType;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import lectus.store.embedded.engine.commit.KeyRange;
import lectus.store.embedded.engine.commit.Mutation;

/**
 * A transaction's writes in the order they were made. Most transactions never read over them, so
 * the {@link WriteMap} is built at the first read that might, and updated at later ones.
 */
final class WriteLog {
  private final ArrayList<Mutation> log = new ArrayList<>();

  /** The possible final keys of each versionstamped key that the map does not hold yet. */
  private final Deque<KeyRange> places = new ArrayDeque<>(0);

  private WriteMap map;
  private int mapped;
  private long sizeBytes;
  private boolean hasStampedKey;
  private boolean hasAppend;

  /**
   * Whether the log might differ from the write map's mutations, which are what a cluster sends.
   */
  private boolean onlyTheMapWillDo;

  boolean isEmpty() {
    return log.isEmpty();
  }

  void set(byte[] key, byte[] value) {
    add(new Mutation.Set(key, value), key.length + value.length);
  }

  /** Clears a range. That drops a versionstamped key whose template lies in it. */
  void clear(byte[] begin, byte[] end) {
    onlyTheMapWillDo |= hasStampedKey;
    add(new Mutation.Clear(begin, end), begin.length + end.length);
  }

  void mutate(MutationType type, byte[] key, byte[] operand) {
    if (type == MutationType.APPEND_IF_FITS) {
      // Two appends to one key are merged into one, which fits or fails as a whole.
      onlyTheMapWillDo |= hasAppend;
      hasAppend = true;
    }
    add(new Mutation.Atomic(type, key, operand), key.length + operand.length);
  }

  void mutateStampedKey(byte[] template, byte[] operand, KeyRange place) {
    hasStampedKey = true;
    places.add(place);
    add(
        new Mutation.Atomic(MutationType.SET_VERSIONSTAMPED_KEY, template, operand),
        template.length + operand.length);
  }

  private void add(Mutation mutation, int bytes) {
    log.add(mutation);
    sizeBytes += bytes + TransactionSize.MUTATION_BYTES;
  }

  /** Returns the writes by key. */
  WriteMap map() {
    if (map == null) {
      map = new WriteMap();
    }
    for (; mapped < log.size(); mapped++) {
      apply(log.get(mapped));
    }
    return map;
  }

  private void apply(Mutation mutation) {
    if (mutation instanceof Mutation.Set set) {
      map.set(set.key(), set.value());
    } else if (mutation instanceof Mutation.Clear clear) {
      map.clear(clear.begin(), clear.end());
    } else if (mutation instanceof Mutation.Atomic atomic) {
      if (atomic.type() == MutationType.SET_VERSIONSTAMPED_KEY) {
        map.mutateStampedKey(atomic.key(), atomic.operand(), places.remove());
      } else {
        map.mutate(atomic.type(), atomic.key(), atomic.operand());
      }
    }
  }

  /** Returns the mutations to commit. */
  List<Mutation> mutations() {
    return onlyTheMapWillDo ? map().mutations() : log;
  }

  /** Returns the writes in the order they were made, for a transaction without read-your-writes. */
  List<Mutation> inOrder() {
    return log;
  }

  /**
   * Returns an upper bound of the mutations' part of the commit's size. It is exact if no key was
   * written several times.
   */
  long sizeAtMostBytes() {
    return sizeBytes;
  }

  /** Returns the mutations' part of the commit's size. */
  long exactSizeBytes() {
    long bytes = 0;
    for (Mutation mutation : map().mutations()) {
      bytes += TransactionSize.MUTATION_BYTES + TransactionSize.contentBytes(mutation);
    }
    return bytes;
  }
}
