package lectus.changes.notify;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntConsumer;
import lectus.changes.notify.StoreListeners.StoreTelling;
import lectus.changes.page.DatabaseNotifications.Listener;
import lectus.changes.page.DatabaseNotifications.StoreListener;
import lectus.changes.page.DatabaseNotifications.WantedDatabases;
import lectus.changes.page.Registration;
import lectus.changes.page.TouchedShards;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.DatabaseUpdate;
import lectus.database.InstanceId;
import lectus.database.Sequence;
import lectus.store.Versionstamp;

/**
 * The listeners on this server by database, and the highest sequence that was heard of each
 * database. Thread-safe.
 */
public final class ListenerRegistry {
  final Map<InstanceId, Audience> audiences = new ConcurrentHashMap<>();
  private final StoreListeners storeAudience = new StoreListeners();
  final StoreTelling store;
  private final List<IntConsumer> watchers = new CopyOnWriteArrayList<>();

  private final CommitClock clock = new CommitClock();

  /** The number of databases with listeners, by the address of their events. */
  private final AtomicIntegerArray listenedTo = new AtomicIntegerArray(DatabaseEvent.ADDRESSES);

  public ListenerRegistry() {
    this(StoreTelling.ownThread());
  }

  public ListenerRegistry(Executor executor) {
    this.store = new StoreTelling(storeAudience, executor);
  }

  /**
   * @param watcher called with the address of a database's events when the database gets its first
   *     listener or loses its last
   */
  public void watch(IntConsumer watcher) {
    watchers.add(watcher);
  }

  public Registration add(DatabaseHandle db, Listener listener) {
    InstanceId instance = db.instance();
    int address = DatabaseEvent.address(instance);
    Audience fresh = new Audience(db);
    Audience joined =
        audiences.compute(
            instance,
            (same, known) -> {
              Audience audience = known != null ? known : fresh;
              audience.listeners.add(listener);
              if (audience == fresh) {
                listenedTo.incrementAndGet(address);
              }
              return audience;
            });
    if (joined == fresh) {
      changed(address);
    }
    return () -> remove(instance, listener);
  }

  private void remove(InstanceId instance, Listener listener) {
    int address = DatabaseEvent.address(instance);
    Audience left =
        audiences.computeIfPresent(
            instance,
            (same, audience) -> {
              boolean last = audience.remove(listener);
              if (last) {
                listenedTo.decrementAndGet(address);
              }
              return last ? null : audience;
            });
    if (left == null) {
      changed(address);
    }
  }

  public Registration addToAll(WantedDatabases wanted, StoreListener listener) {
    Registration registration = storeAudience.add(wanted, listener);
    changedEverywhere();
    return () -> {
      registration.close();
      changedEverywhere();
    };
  }

  private void changedEverywhere() {
    for (int address = 0; address < DatabaseEvent.ADDRESSES; address++) {
      changed(address);
    }
  }

  private void changed(int address) {
    watchers.forEach(watcher -> watcher.accept(address));
  }

  CommitClock clock() {
    return clock;
  }

  boolean needs(int address) {
    return listenedTo.get(address) > 0 || !storeAudience.all.isEmpty();
  }

  /** Returns the databases with listeners. */
  public Map<InstanceId, DatabaseHandle> databases() {
    Map<InstanceId, DatabaseHandle> databases = new HashMap<>();
    audiences.forEach((instance, audience) -> databases.put(instance, audience.db()));
    return databases;
  }

  boolean isAnybodyListeningToAll() {
    return !storeAudience.all.isEmpty();
  }

  public boolean isEmpty() {
    return audiences.isEmpty() && storeAudience.all.isEmpty();
  }

  /**
   * Returns the highest sequence that was heard of a database; empty if none was, or it has no
   * listeners.
   */
  Optional<Sequence> heard(InstanceId instance) {
    return Optional.ofNullable(audiences.get(instance)).flatMap(Audience::heard);
  }

  /**
   * Notes that a poll found a database at this sequence.
   *
   * @param heardBefore what had been heard of it before the poll began
   * @return whether a listener of it was told something new
   */
  boolean found(InstanceId instance, Optional<Sequence> heardBefore, Sequence highest) {
    Audience audience = audiences.get(instance);
    if (audience == null) {
      return false;
    }
    tellStore(Optional.of(audience.db().name()), new Versionstamp(highest.versionstamp()));
    return audience.found(heardBefore, highest);
  }

  Optional<DatabaseName> name(InstanceId instance) {
    return Optional.ofNullable(audiences.get(instance)).map(it -> it.db().name());
  }

  /** The time of the creation is not known, so it may be after every position. */
  void created(Optional<DatabaseName> name) {
    tellStore(name, Versionstamp.END);
  }

  void logged(DatabaseUpdate row) {
    tellStore(Optional.of(row.name()), row.at().endOfCommit());
  }

  /** Notes that everything in the updates log up to a point was told row by row. */
  void loggedTo(Versionstamp point) {
    if (!storeAudience.all.isEmpty()) {
      store.settle(point);
    }
  }

  void storeMoved(Versionstamp highest) {
    tellStore(Optional.empty(), highest);
  }

  /** Without a name it may concern every listener. */
  private void tellStore(Optional<DatabaseName> name, Versionstamp level) {
    if (!storeAudience.all.isEmpty()) {
      name.ifPresentOrElse(it -> store.tell(it, level), () -> store.tellAll(level));
    }
  }

  /** Returns whether a listener of this very database was told something new. */
  boolean updated(
      InstanceId instance, Optional<DatabaseName> name, Sequence highest, TouchedShards shards) {
    Versionstamp at = new Versionstamp(highest.versionstamp());
    clock.reached(at.version());
    tellStore(name, at);
    Audience audience = audiences.get(instance);
    return audience != null && audience.updated(highest, shards);
  }

  void deleted(InstanceId instance, Optional<DatabaseName> name) {
    tellStore(name, Versionstamp.END);
    Audience audience = audiences.get(instance);
    if (audience != null) {
      audience.deleted();
    }
  }

  /**
   * The listeners on this server of one life of a database. A sequence that was heard before is not
   * told again: each listener was told of it, or registered afterwards and finds it when it reads.
   */
  private static final class Audience {
    private final DatabaseHandle db;
    private final Set<Listener> listeners = ConcurrentHashMap.newKeySet();
    private final AtomicReference<Sequence> heard = new AtomicReference<>();

    /**
     * @param db as it was when somebody began to listen
     */
    Audience(DatabaseHandle db) {
      this.db = db;
    }

    DatabaseHandle db() {
      return db;
    }

    /** Returns whether no listener is left. */
    boolean remove(Listener listener) {
      listeners.remove(listener);
      return listeners.isEmpty();
    }

    /**
     * Returns whether this was news. Listeners of single shards may still be told of an earlier
     * sequence: events come in any order.
     */
    boolean updated(Sequence highest, TouchedShards shards) {
      Sequence before = heard.getAndAccumulate(highest, Audience::higher);
      boolean news = before == null || before.compareTo(highest) < 0;
      if (news || !shards.ids().isEmpty()) {
        listeners.forEach(listener -> listener.updated(highest, shards));
      }
      return news;
    }

    Optional<Sequence> heard() {
      return Optional.ofNullable(heard.get());
    }

    /**
     * Notes that a poll found the database at this sequence. What was heard before the poll began
     * and is higher cannot be true: it would keep listeners deaf to everything below.
     *
     * @return whether this was news
     */
    boolean found(Optional<Sequence> heardBefore, Sequence highest) {
      if (heardBefore.isEmpty() || heardBefore.get().compareTo(highest) <= 0) {
        return updated(highest, TouchedShards.ANY);
      }
      Sequence untrue = heardBefore.get();
      heard.compareAndSet(untrue, highest);
      listeners.forEach(listener -> listener.corrected(untrue, highest));
      return true;
    }

    private static Sequence higher(Sequence known, Sequence told) {
      return known == null || known.compareTo(told) < 0 ? told : known;
    }

    void deleted() {
      listeners.forEach(Listener::deleted);
    }
  }

  /**
   * Says how long ago a version was committed. A store's versions advance by about a million a
   * second (docs/foundationdb-contract.md), so one whose time is known tells the time of those
   * around it. Thread-safe.
   */
  static final class CommitClock {
    private static final long NANOS_PER_VERSION = 1_000;

    /** Beyond, versions say nothing about time. */
    private static final long LONGEST_NANOS = TimeUnit.DAYS.toNanos(1);

    private long latest;
    private long latestNanos = System.nanoTime();

    /** Notes that a commit of this version has just been answered, or heard of. */
    synchronized void reached(long version) {
      if (version > latest) {
        latest = version;
        latestNanos = System.nanoTime();
      }
    }

    /** Returns how many nanoseconds ago it was committed, at least 0. */
    synchronized long ageNanos(long version) {
      long sinceLast = System.nanoTime() - latestNanos;
      long versions = latest - version;
      long age =
          sinceLast + NANOS_PER_VERSION * Math.min(versions, LONGEST_NANOS / NANOS_PER_VERSION);
      return Math.max(0, Math.min(age, LONGEST_NANOS));
    }
  }
}
