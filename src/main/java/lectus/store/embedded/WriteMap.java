package lectus.store.embedded;

import com.apple.foundationdb.MutationType;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import lectus.store.embedded.KeyState.Operation;
import lectus.store.embedded.engine.commit.KeyRange;
import lectus.store.embedded.engine.commit.Mutation;

/**
 * A transaction's own writes in key order, as its reads see them (docs/foundationdb-contract.md,
 * sections 5 and 7). Every key is unmodified, cleared (in {@link #cleared} without a state of its
 * own), or independent or dependent (it has a {@link KeyState}). A key may also be unreadable,
 * because of its state or because it lies in {@link #unreadable}, the ranges of possible final keys
 * of versionstamped writes.
 */
final class WriteMap {
  private final TreeMap<byte[], KeyState> states = new TreeMap<>(KeySpace::compare);
  private final RangeSet cleared = new RangeSet();
  private final RangeSet unreadable = new RangeSet();

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

  KeyState state(byte[] key) {
    return states.get(key);
  }

  boolean isCleared(byte[] key) {
    return !cleared.isEmpty() && cleared.contains(key);
  }

  boolean isUnreadable(byte[] key) {
    KeyState state = states.get(key);
    return state != null ? state.isUnreadable() : unreadable.contains(key);
  }

  /** Returns whether reads of {@code [begin, end)} see anything other than stored rows. */
  boolean touches(byte[] begin, byte[] end) {
    byte[] first = states.ceilingKey(begin);
    return (first != null && KeySpace.compare(first, end) < 0)
        || cleared.intersects(begin, end)
        || unreadable.intersects(begin, end);
  }

  /** Returns the states in {@code [begin, end)}. */
  NavigableMap<byte[], KeyState> states(byte[] begin, byte[] end) {
    return states.subMap(begin, true, end, false);
  }

  /** Returns the whole cleared ranges that overlap {@code [begin, end)}. States override them. */
  NavigableMap<byte[], byte[]> cleared(byte[] begin, byte[] end) {
    return cleared.intersecting(begin, end);
  }

  /** Returns the whole unreadable ranges that overlap {@code [begin, end)}. */
  NavigableMap<byte[], byte[]> unreadable(byte[] begin, byte[] end) {
    return unreadable.intersecting(begin, end);
  }

  /** Receives the parts of a read range that the store decides: unmodified and dependent keys. */
  interface StoredParts {
    void accept(byte[] begin, byte[] end);
  }

  /** Emits the parts of {@code [begin, end)} whose reads depend on the store. */
  void storedParts(byte[] begin, byte[] end, StoredParts parts) {
    var clears = cleared(begin, end).entrySet().iterator();
    var clear = clears.hasNext() ? clears.next() : null;
    byte[] from = begin;
    for (var entry : states(begin, end).entrySet()) {
      if (entry.getValue().isDependent()) {
        continue;
      }
      byte[] key = entry.getKey();
      while (clear != null && KeySpace.compare(clear.getKey(), key) <= 0) {
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
    if (KeySpace.compare(from, gapEnd) < 0) {
      parts.accept(from, gapEnd);
    }
    return KeySpace.max(from, next);
  }

  /** Returns the fewest mutations that produce this map: cleared ranges first, then key by key. */
  List<Mutation> mutations() {
    List<Mutation> mutations = new ArrayList<>(flushed);
    cleared.all().forEach((begin, end) -> mutations.add(new Mutation.Clear(begin, end)));
    states.forEach((key, state) -> state.mutations(key, mutations::add));
    return mutations;
  }

  private void flush(byte[] begin, byte[] end, List<Mutation> to) {
    cleared(begin, end)
        .forEach(
            (from, until) ->
                to.add(new Mutation.Clear(KeySpace.max(from, begin), KeySpace.min(until, end))));
    states(begin, end).forEach((key, state) -> state.mutations(key, to::add));
  }
}
