package lectus.feed;

import lectus.database.DatabaseHandle;
import lectus.database.DatabaseUpdate;
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
     */
    void updated(Sequence highest);

    /** This life of the database is over. */
    void deleted();
  }

  /** Listens to all databases of the store. */
  interface StoreListener {
    void created(InstanceId instance);

    /**
     * @param highest its versionstamp is a level of the whole store, too
     */
    void updated(InstanceId instance, Sequence highest);

    void deleted(InstanceId instance);

    /** A look at the updates log found this row, whether or not anybody told of it before. */
    void logged(DatabaseUpdate row);

    /**
     * A look at the updates log found more rows than are told one by one.
     *
     * @param highest when the last of these moves was: a level, as above
     */
    void moved(Versionstamp highest);
  }

  /** Whoever listens registers before its first read, or it would miss what happens in between. */
  Registration listen(DatabaseHandle database, Listener listener);

  /** As {@link #listen}, to whatever database there is or will be. */
  Registration listenToAll(StoreListener listener);

  /** Tells everybody that a database was created. */
  void publishCreated(InstanceId instance);

  /** Tells everybody that a database has come to a sequence. */
  void publishUpdated(InstanceId instance, Sequence sequence);

  /** Tells everybody that this life of a database is over. */
  void publishDeleted(InstanceId instance);
}
