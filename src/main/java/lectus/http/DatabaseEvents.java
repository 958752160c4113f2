package lectus.http;

import lectus.database.DatabaseHandle;
import lectus.database.InstanceId;
import lectus.database.Sequence;

/**
 * Tells listeners that a database moved. Nothing depends on a single event: it is a hint to read.
 */
public interface DatabaseEvents {

  /** Told on any thread; may be told the same twice. */
  interface Listener {
    /**
     * @param highest the highest sequence heard of so far: a level, never a read position
     */
    void updated(Sequence highest);

    /** This life of the database is over. */
    void deleted();
  }

  /** A registration, ended by closing it. */
  interface Registration extends AutoCloseable {
    @Override
    void close();
  }

  /** Whoever listens registers before its first read, or it would miss what happens in between. */
  Registration listen(DatabaseHandle database, Listener listener);

  /** Tells everybody that this life of a database is over. */
  void publishDeleted(InstanceId instance);
}
