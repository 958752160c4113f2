package lectus.changes.notify;

import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import lectus.changes.page.DatabaseNotifications.StoreListener;
import lectus.changes.page.DatabaseNotifications.WantedDatabases;
import lectus.changes.page.Registration;
import lectus.database.DatabaseName;
import lectus.metrics.DaemonThreads;
import lectus.store.Versionstamp;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The listeners on this server to many databases, found by the name of one of them: by the whole
 * name, or by its prefix. Thread-safe.
 */
final class StoreListeners {
  final Set<Member> all = ConcurrentHashMap.newKeySet();
  private final Map<DatabaseName, Set<Member>> byName = new ConcurrentHashMap<>();
  private final NavigableMap<String, Set<Member>> byHead = new ConcurrentSkipListMap<>();

  /** One registration, as opposed to another one of the same listener. */
  private static final class Member {
    private final WantedDatabases wanted;
    private final StoreListener listener;

    Member(WantedDatabases wanted, StoreListener listener) {
      this.wanted = wanted;
      this.listener = listener;
    }
  }

  Registration add(WantedDatabases wanted, StoreListener listener) {
    Member member = new Member(wanted, listener);
    all.add(member);
    wanted.names().forEach(name -> add(byName, name, member));
    wanted.heads().forEach(head -> add(byHead, head, member));
    return () -> remove(member);
  }

  private void remove(Member member) {
    all.remove(member);
    member.wanted.names().forEach(name -> remove(byName, name, member));
    member.wanted.heads().forEach(head -> remove(byHead, head, member));
  }

  private static <K> void add(Map<K, Set<Member>> index, K key, Member member) {
    index.compute(
        key,
        (same, known) -> {
          Set<Member> members = known == null ? ConcurrentHashMap.newKeySet() : known;
          members.add(member);
          return members;
        });
  }

  private static <K> void remove(Map<K, Set<Member>> index, K key, Member member) {
    index.computeIfPresent(
        key,
        (same, members) -> {
          members.remove(member);
          return members.isEmpty() ? null : members;
        });
  }

  Collection<StoreListener> all() {
    Set<StoreListener> listeners = noListeners();
    all.forEach(member -> listeners.add(member.listener));
    return listeners;
  }

  /** Returns the listeners to a database of this name, each once. */
  Collection<StoreListener> of(DatabaseName name) {
    Set<StoreListener> listeners = noListeners();
    byName.getOrDefault(name, Set.of()).forEach(member -> listeners.add(member.listener));
    String text = name.text();
    Map.Entry<String, Set<Member>> nearest = byHead.floorEntry(text);
    while (nearest != null) {
      int common = commonLength(nearest.getKey(), text);
      if (common < nearest.getKey().length()) {
        nearest = byHead.floorEntry(text.substring(0, common));
        continue;
      }
      nearest.getValue().stream()
          .filter(member -> member.wanted.others().test(name))
          .forEach(member -> listeners.add(member.listener));
      nearest = byHead.lowerEntry(nearest.getKey());
    }
    return listeners;
  }

  private static Set<StoreListener> noListeners() {
    return Collections.newSetFromMap(new IdentityHashMap<>());
  }

  private static int commonLength(String one, String other) {
    int most = Math.min(one.length(), other.length());
    int length = 0;
    while (length < most && one.charAt(length) == other.charAt(length)) {
      length++;
    }
    return length;
  }

  /**
   * Tells listeners to many databases, on a thread of its own. A writer only notes that a database
   * moved, however many listeners there are and however long they take. A database that moves again
   * meanwhile is told once, at its latest level. When too many databases wait, every listener is
   * told. Thread-safe.
   */
  static final class StoreTelling {
    /** The most databases that are told one by one, at some hundred bytes each. */
    static final int MAX_WAITING = 1_024;

    private static final long RETRY_MILLIS = 1_000;

    private static final Logger LOG = LoggerFactory.getLogger(StoreTelling.class);

    private final StoreListeners listeners;
    private final Executor executor;
    private Map<DatabaseName, Versionstamp> waiting = new HashMap<>();

    /** The level that all listeners are to be told; ZERO if there is none. */
    private Versionstamp waitingForAll = Versionstamp.ZERO;

    /** Everything up to this point is among what waits, or was told. */
    private Versionstamp waitingTo = Versionstamp.ZERO;

    private boolean running;

    private volatile Versionstamp settled = Versionstamp.ZERO;

    StoreTelling(StoreListeners listeners, Executor executor) {
      this.listeners = listeners;
      this.executor = executor;
    }

    /**
     * Returns an executor with one thread, which ends when it has had nothing to do for a while.
     */
    static Executor ownThread() {
      return DaemonThreads.pool(1, 5, DaemonThreads.named("lectus-store-listeners"));
    }

    synchronized void tell(DatabaseName name, Versionstamp level) {
      waiting.merge(name, level, StoreTelling::higher);
      if (waiting.size() > MAX_WAITING) {
        waiting.values().forEach(it -> waitingForAll = higher(waitingForAll, it));
        waiting.clear();
      }
      start();
    }

    /** Tells every listener, because it is not known which databases moved. */
    synchronized void tellAll(Versionstamp level) {
      waitingForAll = higher(waitingForAll, level);
      start();
    }

    /** Notes that everything up to a point was handed in here. */
    synchronized void settle(Versionstamp point) {
      waitingTo = higher(waitingTo, point);
      start();
    }

    /** Returns a point up to which everything was told. */
    Versionstamp settled() {
      return settled;
    }

    private void start() {
      if (!running) {
        running = true;
        try {
          executor.execute(this::run);
        } catch (Throwable noThread) {
          // The next call tries again; until then the poll of the updates log remains.
          running = false;
          LOG.warn("Listeners of many databases cannot be told now", noThread);
        }
      }
    }

    private record Round(
        Map<DatabaseName, Versionstamp> databases, Versionstamp forAll, Versionstamp to) {
      boolean isForAll() {
        return !forAll.equals(Versionstamp.ZERO);
      }
    }

    private void run() {
      try {
        for (Round round = next(); round != null; round = next()) {
          tell(round);
          settled = higher(settled, round.to);
        }
      } catch (Throwable failure) {
        LOG.error("Listeners of many databases could not be told; all are told once more", failure);
        tellAllSoon();
      }
    }

    /**
     * It is no longer known which listeners were to be told. Should nobody begin again by then, the
     * next call tells all of them.
     */
    private void tellAllSoon() {
      synchronized (this) {
        running = false;
        waitingForAll = Versionstamp.END;
      }
      CompletableFuture.delayedExecutor(RETRY_MILLIS, TimeUnit.MILLISECONDS, Runnable::run)
          .execute(() -> tellAll(Versionstamp.END));
    }

    /** Returns null if nothing waits: the next call then starts a task again. */
    private synchronized Round next() {
      Round round = new Round(waiting, waitingForAll, waitingTo);
      if (waiting.isEmpty() && !round.isForAll() && settled.equals(waitingTo)) {
        running = false;
        return null;
      }
      waiting = new HashMap<>();
      waitingForAll = Versionstamp.ZERO;
      return round;
    }

    private void tell(Round round) {
      if (round.isForAll()) {
        listeners.all().forEach(listener -> tell(listener, round.forAll));
      }
      round.databases.forEach(
          (name, level) -> listeners.of(name).forEach(listener -> tell(listener, level)));
    }

    /** A listener that fails does not affect the others. */
    private static void tell(StoreListener listener, Versionstamp level) {
      try {
        listener.moved(level);
      } catch (Throwable failure) {
        LOG.error("A listener of many databases failed", failure);
      }
    }

    private static Versionstamp higher(Versionstamp one, Versionstamp other) {
      return one.compareTo(other) < 0 ? other : one;
    }
  }
}
