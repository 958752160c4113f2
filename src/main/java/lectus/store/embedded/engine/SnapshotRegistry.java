package lectus.store.embedded.engine;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Supplier;

/**
 * Every state that somebody holds and every open snapshot. The committer publishes; any thread
 * takes snapshots, and any thread may end them.
 */
final class SnapshotRegistry {
  private final StoreReader reader;
  private final Set<HeldSnapshot> open = ConcurrentHashMap.newKeySet();
  private final ConcurrentSkipListMap<Long, StoreState> held = new ConcurrentSkipListMap<>();
  private volatile Published published;
  private volatile Ending ending;

  /** How it ended, and what who comes later gets. */
  private record Ending(int mark, Supplier<? extends RuntimeException> refusal) {}

  SnapshotRegistry(StoreReader reader, Published first) {
    this.reader = reader;
    this.published = first;
    held.put(first.state().firstVersion(), first.state());
  }

  StoreReader reader() {
    return reader;
  }

  Published published() {
    return published;
  }

  /** The newest version and its snapshot. */
  HeldSnapshot latest() {
    Published newest = holdNewest();
    return open(newest.version(), newest.state());
  }

  /** The newest version and its state, which the caller has to release. */
  Published holdNewest() {
    while (true) {
      requireOpen();
      Published current = published;
      if (current.state().retain()) {
        return current;
      }
    }
  }

  /** The state that was current at {@code version}, if somebody holds it: else 1007, or 1009. */
  HeldSnapshot at(long version) {
    if (version > published.version()) {
      throw StoreErrors.futureVersion();
    }
    Map.Entry<Long, StoreState> entry = held.floorEntry(version);
    if (entry == null || isOutOfWindow(version) || !entry.getValue().retain()) {
      throw StoreErrors.transactionTooOld();
    }
    if (!entry.getValue().isCurrentAt(version)) {
      release(entry.getValue());
      throw StoreErrors.transactionTooOld();
    }
    return open(version, entry.getValue());
  }

  /** Makes the state after a commit readable. */
  void publish(Published next) {
    StoreState previous = published.state();
    held.put(next.state().firstVersion(), next.state());
    previous.supersededBy(next.state().firstVersion());
    published = next;
    release(previous);
  }

  /** Raises the version of the newest state, in which nothing changed. */
  void advance(long version) {
    published = new Published(version, published.state());
  }

  /** The version since which conflicts have to be known: the first one of the oldest held state. */
  long oldestHeldVersion() {
    return held.firstKey();
  }

  boolean isOutOfWindow(long version) {
    return published.version() - version > Engine.WINDOW_VERSIONS;
  }

  /** Ends the snapshots that fell out of the window and frees what nobody uses. */
  void expire() {
    for (HeldSnapshot snapshot : open) {
      if (isOutOfWindow(snapshot.version())) {
        snapshot.end(UseGate.EXPIRED);
      }
    }
    reader.tick();
  }

  /**
   * Ends every snapshot and refuses new ones; reads that are under way finish.
   *
   * @param mark of those that are open: CLOSED, or EXPIRED where a reader is to come again
   * @param refusal of new ones
   */
  void endAll(int mark, Supplier<? extends RuntimeException> refusal) {
    ending = new Ending(mark, refusal);
    open.forEach(snapshot -> snapshot.end(mark));
  }

  /** Gives up the newest state, once nobody publishes any more. */
  void letGo() {
    release(published.state());
  }

  /** Whether a native snapshot is still held, by a read that is under way. */
  boolean isInUse() {
    return !held.isEmpty();
  }

  int openSnapshots() {
    return open.size();
  }

  int heldStates() {
    return held.size();
  }

  void forget(HeldSnapshot snapshot) {
    open.remove(snapshot);
  }

  void release(StoreState state) {
    if (state.release()) {
      held.remove(state.firstVersion(), state);
    }
  }

  private HeldSnapshot open(long version, StoreState state) {
    HeldSnapshot snapshot = new HeldSnapshot(version, state, this);
    open.add(snapshot);
    Ending end = ending;
    if (end != null) {
      snapshot.end(end.mark());
      throw end.refusal().get();
    }
    return snapshot;
  }

  private void requireOpen() {
    Ending end = ending;
    if (end != null) {
      throw end.refusal().get();
    }
  }
}
