package lectus.feed;

import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.InstanceId;
import lectus.database.Sequence;
import lectus.store.Versionstamp;

/**
 * Tells listeners that databases moved, on this server or another. Nothing depends on a single
 * event: it is a hint to read, and may be lost, late, double or out of order. Listeners are told on
 * any thread; they must not wait and must not throw. For any thread.
 */
public interface DatabaseEvents {

  /** Listens to one life of a database. */
  interface Listener {
    /**
     * @param highest the highest sequence heard of so far: a level, never a read position
     * @param shards where the new entries of these commits are; of others that are told of
     *     elsewhere nothing is said
     */
    void updated(Sequence highest, TouchedShards shards);

    /**
     * What was told is not true: nothing in the database is so high.
     *
     * @param told the sequence that was told
     * @param highest the highest one there is
     */
    default void corrected(Sequence told, Sequence highest) {}

    /** This life of the database is over. */
    void deleted();
  }

  /** Listens to many databases of the store. Never told on a writer's thread. */
  @FunctionalInterface
  interface StoreListener {
    /**
     * Something may have happened to a database that it wants to hear of.
     *
     * @param level nothing that is told of lies behind it: a level, never a read position; {@link
     *     Versionstamp#END} where it is not known when that was
     */
    void moved(Versionstamp level);
  }

  /** Whoever listens registers before its first read, or it would miss what happens in between. */
  Registration listen(DatabaseHandle database, Listener listener);

  /** As {@link #listen}, to whatever databases there are or will be that it wants to hear of. */
  Registration listenToAll(WantedDatabases wanted, StoreListener listener);

  /** Tells everybody that a database was created. */
  void publishCreated(InstanceId instance, DatabaseName name);

  /** Tells everybody that a database has come to a sequence, and where the new entries are. */
  void publishUpdated(
      InstanceId instance, DatabaseName name, Sequence sequence, TouchedShards shards);

  /** Tells everybody that this life of a database is over. */
  void publishDeleted(InstanceId instance, DatabaseName name);
}
