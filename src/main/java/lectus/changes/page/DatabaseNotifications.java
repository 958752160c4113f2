package lectus.changes.page;

import java.util.Set;
import java.util.function.Predicate;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.InstanceId;
import lectus.database.Sequence;
import lectus.store.Versionstamp;

/**
 * Notifies listeners that databases changed, on this server or another. An event is only a hint to
 * read: it may be lost, late, duplicated or out of order, and nothing depends on a single one.
 * Listeners are called on any thread; they must not wait and must not throw. Thread-safe.
 */
public interface DatabaseNotifications {

  /** Listens to one life of a database. */
  interface Listener {
    /**
     * @param highest the highest sequence known so far: a level, never a read position
     * @param shards the shards with the new entries of these commits; other shards may have entries
     *     announced by other events
     */
    void updated(Sequence highest, TouchedShards shards);

    /**
     * An announced sequence was wrong: nothing in the database is that high.
     *
     * @param told the announced sequence
     * @param highest the actual highest sequence
     */
    default void corrected(Sequence told, Sequence highest) {}

    /** This life of the database is over. */
    void deleted();
  }

  /** Listens to many databases of the store. Never called on a writer's thread. */
  @FunctionalInterface
  interface StoreListener {
    /**
     * Something may have happened to a wanted database.
     *
     * @param level a level, never a read position: everything announced lies at or before it;
     *     {@link Versionstamp#END} if that point is unknown
     */
    void moved(Versionstamp level);
  }

  /**
   * Registers a listener to one database. Register before the first read; otherwise changes in
   * between would be missed.
   */
  Registration listen(DatabaseHandle database, Listener listener);

  /** Like {@link #listen}, for all wanted databases, existing and future. */
  Registration listenToAll(WantedDatabases wanted, StoreListener listener);

  /**
   * Returns a point up to which everything that the updates log has was told to those who {@link
   * #listenToAll}, if it came after they registered; ZERO if that is not known.
   */
  Versionstamp toldTo();

  /**
   * Returns how many nanoseconds ago this server heard of a commit, which for a commit of its own
   * is when the store answered it. Never waits.
   */
  long ageNanos(long commitVersion);

  void publishCreated(InstanceId instance, DatabaseName name);

  void publishUpdated(
      InstanceId instance, DatabaseName name, Sequence sequence, TouchedShards shards);

  void publishDeleted(InstanceId instance, DatabaseName name);

  /**
   * The databases that a listener to the whole store wants to hear of. It is structured so that
   * listeners can be found by a database's name, however many there are.
   *
   * @param names databases wanted by name
   * @param heads prefixes of the names of all other wanted databases
   * @param others decides which databases with such a prefix are wanted
   */
  record WantedDatabases(
      Set<DatabaseName> names, Set<String> heads, Predicate<DatabaseName> others) {
    public static final WantedDatabases ALL =
        new WantedDatabases(Set.of(), Set.of(""), every -> true);

    public WantedDatabases {
      names = Set.copyOf(names);
      heads = Set.copyOf(heads);
    }
  }
}
