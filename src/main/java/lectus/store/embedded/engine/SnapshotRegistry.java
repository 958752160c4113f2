package lectus.store.embedded.engine;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Supplier;
import lectus.error.FoundationDbError;

/**
 * All held states and all open snapshots. A superseded state is kept for the whole window, so that
 * a version of the past can be read whether or not a transaction has it open. The committer
 * publishes; any thread may take and end snapshots.
 */
public final class SnapshotRegistry {
  /**
   * The most superseded states kept for nobody. Each takes less than a kilobyte outside the heap.
   * More commits in five seconds make the window of unopened versions shorter.
   */
  public static final int MAX_RECENT = 8_192;

  private final StoreReader reader;
  private final Set<StoreSnapshot> open = ConcurrentHashMap.newKeySet();
  private final ConcurrentSkipListMap<Long, StoreState> held = new ConcurrentSkipListMap<>();

  /** Superseded states of the window, oldest first; each is retained once. Guarded by itself. */
  private final Deque<StoreState> recent = new ArrayDeque<>(MAX_RECENT + 1);

  private volatile Published published;
  private volatile Ending ending;

  /** How the registry ended, and the exception for later callers. */
  private record Ending(int mark, Supplier<? extends RuntimeException> refusal) {}

  public SnapshotRegistry(StoreReader reader, Published first) {
    this.reader = reader;
    this.published = first;
    held.put(first.state().firstVersion(), first.state());
  }

  public StoreReader reader() {
    return reader;
  }

  public Published published() {
    return published;
  }

  public StoreSnapshot latest() {
    Published newest = holdNewest();
    return open(newest.version(), newest.state());
  }

  /** Returns the newest version with its state, which the caller has to release. */
  public Published holdNewest() {
    while (true) {
      requireOpen();
      Published current = published;
      if (current.state().retain()) {
        return current;
      }
    }
  }

  /**
   * Returns the state that was current at {@code version}. Fails with 1007 if it is no longer held,
   * 1009 if the version has not been reached.
   */
  public StoreSnapshot at(long version) {
    if (version > published.version()) {
      throw FoundationDbError.FUTURE_VERSION.exception();
    }
    Map.Entry<Long, StoreState> entry = held.floorEntry(version);
    if (entry == null || isOutOfWindow(version) || !entry.getValue().retain()) {
      throw FoundationDbError.TRANSACTION_TOO_OLD.exception();
    }
    if (!entry.getValue().isCurrentAt(version)) {
      release(entry.getValue());
      throw FoundationDbError.TRANSACTION_TOO_OLD.exception();
    }
    return open(version, entry.getValue());
  }

  /** Makes the state after a commit readable. */
  public void publish(Published next) {
    StoreState previous = published.state();
    try {
      held.put(next.state().firstVersion(), next.state());
    } catch (Error noMemory) {
      release(next.state());
      throw noMemory;
    }
    previous.supersededBy(next.state().firstVersion());
    published = next;
    synchronized (recent) {
      recent.add(previous);
    }
    releaseOld(MAX_RECENT);
  }

  /** Raises the version of the newest state, in which nothing changed. */
  public void advance(long version) {
    published = new Published(version, published.state());
  }

  /** Returns the first version of the oldest held state. */
  public long oldestHeldVersion() {
    return held.firstKey();
  }

  /** Returns the first version of the oldest state at {@code from} or later that somebody reads. */
  public long oldestUsedVersion(long from) {
    Long begin = held.floorKey(from);
    for (StoreState state : held.tailMap(begin == null ? from : begin).values()) {
      if (state.isUsed()) {
        return state.firstVersion();
      }
    }
    return newestHeldVersion();
  }

  /** Returns the first version of the newest held state. */
  public long newestHeldVersion() {
    return held.lastKey();
  }

  boolean isOutOfWindow(long version) {
    return published.version() - version > StoreSnapshot.WINDOW_VERSIONS;
  }

  /** Ends the snapshots that fell out of the window and frees what is no longer used. */
  public void expire() {
    for (StoreSnapshot snapshot : open) {
      if (isOutOfWindow(snapshot.version())) {
        snapshot.end(UseCount.EXPIRED);
      }
    }
    releaseOld(MAX_RECENT);
    forgetFreed();
    reader.iterators.tick();
  }

  /** Forgets the oldest states that could not be forgotten when they were freed. */
  private void forgetFreed() {
    for (Map.Entry<Long, StoreState> oldest = held.firstEntry();
        oldest != null && oldest.getValue().isFreed();
        oldest = held.firstEntry()) {
      held.remove(oldest.getKey(), oldest.getValue());
    }
  }

  /** Releases the recent states that fell out of the window, and the oldest beyond the number. */
  private void releaseOld(int most) {
    synchronized (recent) {
      while (recent.size() > most
          || (!recent.isEmpty() && isOutOfWindow(recent.peek().lastVersion()))) {
        StoreState oldest = recent.remove();
        oldest.leaveRecent();
        release(oldest);
      }
    }
  }

  /**
   * Ends every snapshot and refuses new ones. Reads under way finish.
   *
   * @param mark for open snapshots: CLOSED, or EXPIRED if readers are to try again
   * @param refusal for new snapshots
   */
  public void endAll(int mark, Supplier<? extends RuntimeException> refusal) {
    ending = new Ending(mark, refusal);
    open.forEach(snapshot -> snapshot.end(mark));
  }

  /** Releases the newest and the recent states, once publishing has ended. */
  public void letGo() {
    releaseOld(0);
    release(published.state());
  }

  /** Returns whether a read under way still holds a native snapshot. */
  public boolean isInUse() {
    forgetFreed();
    return !held.isEmpty();
  }

  public int openSnapshots() {
    return open.size();
  }

  public int heldStates() {
    return held.size();
  }

  void forget(StoreSnapshot snapshot) {
    open.remove(snapshot);
  }

  public void release(StoreState state) {
    if (state.release()) {
      try {
        held.remove(state.firstVersion(), state);
      } catch (Error noMemory) {
        // It is forgotten when it is the oldest.
      }
    }
  }

  private StoreSnapshot open(long version, StoreState state) {
    StoreSnapshot snapshot = null;
    try {
      snapshot = new StoreSnapshot(version, state, this);
      open.add(snapshot);
    } catch (Error noMemory) {
      if (snapshot == null) {
        release(state);
      } else {
        snapshot.end(UseCount.CLOSED);
      }
      throw noMemory;
    }
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

  /**
   * A version and its current state, published to readers as one reference.
   *
   * @param version at or above the version that made {@code state}; idle time raises it
   */
  public record Published(long version, StoreState state) {}
}
