package lectus.store.embedded;

import com.apple.foundationdb.MutationType;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import lectus.store.embedded.engine.AtomicOperations;
import lectus.store.embedded.engine.CommitRequest.KeyRange;
import lectus.store.embedded.engine.CommitRequest.Mutation;

/**
 * A transaction's writes in the order they were made. Most transactions never read over them, so
 * the {@link WriteMap} is built at the first read that might, and updated at later ones.
 */
final class OwnWrites {
  final ArrayList<Mutation> log = new ArrayList<>();

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

  void set(byte[] key, byte[] value) {
    add(new Mutation.Set(key, value));
  }

  /** Clears a range. That drops a versionstamped key whose template lies in it. */
  void clear(byte[] begin, byte[] end) {
    onlyTheMapWillDo |= hasStampedKey;
    add(new Mutation.Clear(begin, end));
  }

  void mutate(MutationType type, byte[] key, byte[] operand) {
    if (type == MutationType.APPEND_IF_FITS) {
      // Two appends to one key are merged into one, which fits or fails as a whole.
      onlyTheMapWillDo |= hasAppend;
      hasAppend = true;
    }
    add(new Mutation.Atomic(type, key, operand));
  }

  void mutateStampedKey(byte[] template, byte[] operand, KeyRange place) {
    hasStampedKey = true;
    places.add(place);
    add(new Mutation.Atomic(MutationType.SET_VERSIONSTAMPED_KEY, template, operand));
  }

  private void add(Mutation mutation) {
    log.add(mutation);
    sizeBytes += mutation.bytes() + AttemptWrites.MUTATION_BYTES;
  }

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
      bytes += AttemptWrites.MUTATION_BYTES + mutation.bytes();
    }
    return bytes;
  }

  /**
   * A transaction's own writes in key order, as its reads see them (docs/foundationdb-contract.md,
   * sections 5 and 7). Every key is unmodified, cleared (in {@link #cleared} without a state of its
   * own), or independent or dependent (it has a {@link KeyState}). A key may also be unreadable,
   * because of its state or because it lies in {@link #unreadable}, the ranges of possible final
   * keys of versionstamped writes.
   */
  static final class WriteMap {
    final TreeMap<byte[], KeyState> states = new TreeMap<>(Arrays::compareUnsigned);
    final RangeSet cleared = new RangeSet();
    final RangeSet unreadable = new RangeSet();

    /**
     * Writes made before a versionstamped write made their range unreadable. They are no longer in
     * states.
     */
    private final List<Mutation> flushed = new ArrayList<>(0);

    void set(byte[] key, byte[] value) {
      put(key, Operation.value(value));
    }

    void clear(byte[] begin, byte[] end) {
      states.subMap(begin, true, end, false).clear();
      unreadable.remove(begin, end);
      cleared.add(begin, end);
    }

    void mutate(MutationType type, byte[] key, byte[] operand) {
      put(key, new Operation(type, operand));
    }

    /** Adds a SET_VERSIONSTAMPED_KEY whose final key will be somewhere in {@code place}. */
    void mutateStampedKey(byte[] template, byte[] operand, KeyRange place) {
      flush(place.begin(), place.end(), flushed);
      states.subMap(place.begin(), true, place.end(), false).clear();
      cleared.remove(place.begin(), place.end());
      unreadable.add(place.begin(), place.end());
      put(template, new Operation(MutationType.SET_VERSIONSTAMPED_KEY, operand));
    }

    private void put(byte[] key, Operation operation) {
      KeyState state = states.get(key);
      if (state != null) {
        state.apply(operation);
      } else if (!operation.isIndependent() && cleared.contains(key)) {
        KeyState missing = new KeyState(Operation.value(null), false);
        missing.apply(operation);
        states.put(key, missing);
      } else {
        states.put(key, new KeyState(operation, operation.isStamped() || unreadable.contains(key)));
      }
    }

    boolean isCleared(byte[] key) {
      return !cleared.ends.isEmpty() && cleared.contains(key);
    }

    boolean isUnreadable(byte[] key) {
      KeyState state = states.get(key);
      return state != null ? state.isUnreadable() : unreadable.contains(key);
    }

    /** Returns whether reads of {@code [begin, end)} see anything other than stored rows. */
    boolean touches(byte[] begin, byte[] end) {
      byte[] first = states.ceilingKey(begin);
      return (first != null && Arrays.compareUnsigned(first, end) < 0)
          || cleared.intersects(begin, end)
          || unreadable.intersects(begin, end);
    }

    NavigableMap<byte[], KeyState> states(byte[] begin, byte[] end) {
      return states.subMap(begin, true, end, false);
    }

    /** Receives the parts of a read range that the store decides: unmodified and dependent keys. */
    interface StoredParts {
      void accept(byte[] begin, byte[] end);
    }

    /** Emits the parts of {@code [begin, end)} whose reads depend on the store. */
    void storedParts(byte[] begin, byte[] end, StoredParts parts) {
      var clears = cleared.intersecting(begin, end).entrySet().iterator();
      var clear = clears.hasNext() ? clears.next() : null;
      byte[] from = begin;
      for (var entry : states(begin, end).entrySet()) {
        if (entry.getValue().isDependent()) {
          continue;
        }
        byte[] key = entry.getKey();
        while (clear != null && Arrays.compareUnsigned(clear.getKey(), key) <= 0) {
          from = part(from, clear.getKey(), clear.getValue(), parts);
          clear = clears.hasNext() ? clears.next() : null;
        }
        from = part(from, key, KeySpace.after(key), parts);
      }
      while (clear != null) {
        from = part(from, clear.getKey(), clear.getValue(), parts);
        clear = clears.hasNext() ? clears.next() : null;
      }
      part(from, end, end, parts);
    }

    private static byte[] part(byte[] from, byte[] gapEnd, byte[] next, StoredParts parts) {
      if (Arrays.compareUnsigned(from, gapEnd) < 0) {
        parts.accept(from, gapEnd);
      }
      return KeySpace.max(from, next);
    }

    /**
     * Returns the fewest mutations that produce this map: cleared ranges first, then key by key.
     */
    List<Mutation> mutations() {
      List<Mutation> mutations = new ArrayList<>(flushed);
      cleared.all().forEach((begin, end) -> mutations.add(new Mutation.Clear(begin, end)));
      states.forEach((key, state) -> state.mutations(key, mutations::add));
      return mutations;
    }

    private void flush(byte[] begin, byte[] end, List<Mutation> to) {
      cleared
          .intersecting(begin, end)
          .forEach(
              (from, until) ->
                  to.add(new Mutation.Clear(KeySpace.max(from, begin), KeySpace.min(until, end))));
      states(begin, end).forEach((key, state) -> state.mutations(key, to::add));
    }
  }

  /**
   * A transaction's writes to one key, as a stack of operations. If the lowest is an atomic
   * operation, the key is <i>dependent</i> on the stored value, otherwise <i>independent</i> of it.
   */
  static final class KeyState {

    private Operation first;

    /** The operations above the first, or null: most keys are written once. */
    private List<Operation> above;

    private boolean unreadable;

    KeyState(Operation first, boolean unreadable) {
      this.first = first;
      this.unreadable = unreadable;
    }

    boolean isDependent() {
      return !first.isIndependent();
    }

    boolean isUnreadable() {
      return unreadable;
    }

    /** Adds an operation, merged with the one below it if possible. */
    void apply(Operation next) {
      unreadable |= next.isStamped();
      if (unreadable) {
        push(next);
      } else if (next.type == null) {
        first = next;
        above = null;
      } else {
        pushOrJoin(next);
      }
    }

    private void pushOrJoin(Operation next) {
      Operation top = above == null ? first : above.get(above.size() - 1);
      if (top.type == null) {
        replaceTop(Operation.value(AtomicOperations.apply(next.type, top.operand, next.operand)));
      } else if (top.type == next.type && joins(top, next)) {
        byte[] joined = AtomicOperations.apply(next.type, top.operand, next.operand);
        replaceTop(new Operation(next.type, joined));
      } else {
        push(next);
      }
    }

    private static boolean joins(Operation top, Operation next) {
      return switch (next.type) {
        case COMPARE_AND_CLEAR -> false;
        case AND, BIT_AND, BYTE_MIN, BYTE_MAX, APPEND_IF_FITS -> true;
        default -> top.operand.length == next.operand.length;
      };
    }

    private void push(Operation next) {
      if (above == null) {
        above = new ArrayList<>(2);
      }
      above.add(next);
    }

    private void replaceTop(Operation top) {
      if (above == null) {
        first = top;
      } else {
        above.set(above.size() - 1, top);
      }
    }

    /**
     * Returns the key's value over the stored one, or null if it is missing. An unreadable key
     * returns the raw operand, offset bytes included.
     */
    byte[] over(byte[] stored) {
      byte[] value = step(stored, first);
      if (above != null) {
        for (Operation operation : above) {
          value = step(value, operation);
        }
      }
      return value;
    }

    private static byte[] step(byte[] value, Operation operation) {
      return operation.isIndependent()
          ? operation.operand
          : AtomicOperations.apply(operation.type, value, operation.operand);
    }

    /** Emits the mutations that produce this state. */
    void mutations(byte[] key, Consumer<Mutation> to) {
      to.accept(mutation(key, first));
      if (above != null) {
        above.forEach(operation -> to.accept(mutation(key, operation)));
      }
    }

    private static Mutation mutation(byte[] key, Operation operation) {
      if (operation.type != null) {
        return new Mutation.Atomic(operation.type, key, operation.operand);
      }
      if (operation.operand == null) {
        return new Mutation.Clear(key, KeyRange.of(key).end());
      }
      return new Mutation.Set(key, operation.operand);
    }
  }

  /** A set of keys stored as disjoint half-open ranges. Touching ranges are merged. */
  static final class RangeSet {
    /** Maps the begin of each range to its end. */
    private final TreeMap<byte[], byte[]> ends = new TreeMap<>(Arrays::compareUnsigned);

    boolean contains(byte[] key) {
      return endOfRangeWith(key) != null;
    }

    /** Returns the end of the range that contains {@code key}, or null. */
    byte[] endOfRangeWith(byte[] key) {
      Map.Entry<byte[], byte[]> range = ends.floorEntry(key);
      return range != null && Arrays.compareUnsigned(key, range.getValue()) < 0
          ? range.getValue()
          : null;
    }

    void add(byte[] begin, byte[] end) {
      byte[] from = begin;
      byte[] to = end;
      Map.Entry<byte[], byte[]> before = ends.floorEntry(begin);
      if (before != null && Arrays.compareUnsigned(before.getValue(), begin) >= 0) {
        from = before.getKey();
        to = KeySpace.max(to, before.getValue());
      }
      Map.Entry<byte[], byte[]> last = ends.floorEntry(end);
      if (last != null && Arrays.compareUnsigned(last.getKey(), from) >= 0) {
        to = KeySpace.max(to, last.getValue());
      }
      ends.subMap(from, true, to, true).clear();
      ends.put(from, to);
    }

    void remove(byte[] begin, byte[] end) {
      Map.Entry<byte[], byte[]> before = ends.lowerEntry(begin);
      Map.Entry<byte[], byte[]> last = ends.lowerEntry(end);
      if (last == null) {
        return;
      }
      byte[] lastEnd = last.getValue();
      ends.subMap(begin, true, end, false).clear();
      if (before != null && Arrays.compareUnsigned(before.getValue(), begin) > 0) {
        ends.put(before.getKey(), begin);
      }
      if (Arrays.compareUnsigned(lastEnd, end) > 0) {
        ends.put(end, lastEnd);
      }
    }

    boolean intersects(byte[] begin, byte[] end) {
      Map.Entry<byte[], byte[]> last = ends.lowerEntry(end);
      return last != null && Arrays.compareUnsigned(last.getValue(), begin) > 0;
    }

    /** Returns the whole ranges that overlap {@code [begin, end)}, in key order. */
    NavigableMap<byte[], byte[]> intersecting(byte[] begin, byte[] end) {
      if (Arrays.compareUnsigned(begin, end) >= 0) {
        return new TreeMap<>(Arrays::compareUnsigned);
      }
      Map.Entry<byte[], byte[]> first = ends.floorEntry(begin);
      boolean reachesIn = first != null && Arrays.compareUnsigned(first.getValue(), begin) > 0;
      return ends.subMap(reachesIn ? first.getKey() : begin, true, end, false);
    }

    /** Returns all ranges, each begin mapped to its end. */
    NavigableMap<byte[], byte[]> all() {
      return ends;
    }
  }

  /**
   * @param type the atomic operation, or null for a plain value
   * @param operand its operand; for a plain value the value, or null if the key is cleared
   */
  record Operation(MutationType type, byte[] operand) {
    static Operation value(byte[] value) {
      return new Operation(null, value);
    }

    boolean isStamped() {
      return type == MutationType.SET_VERSIONSTAMPED_KEY
          || type == MutationType.SET_VERSIONSTAMPED_VALUE;
    }

    boolean isIndependent() {
      return type == null || isStamped();
    }
  }
}
