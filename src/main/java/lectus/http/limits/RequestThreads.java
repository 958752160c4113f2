package lectus.http.limits;

import java.util.concurrent.Executor;
import lectus.error.LectusError;
import lectus.metrics.Measured;
import lectus.metrics.Meters;

/**
 * Threads for the requests' work with the store. Requests that create, delete or configure a
 * database wait for commits, one after the other, and need hardly any memory meanwhile. Readers are
 * few, as each may make a large page, so such changes have threads of their own. Otherwise a few
 * clients that create databases would keep everybody from reading.
 */
public final class RequestThreads implements ReaderTurns, WaitingRequests, Measured, AutoCloseable {
  /** The least number of threads for changes, however few readers there are. */
  private static final int MIN_FOR_CHANGES = 4;

  private final ReaderPool readers;
  private final ReaderPool changes;

  /**
   * @param readers threads that read
   */
  public RequestThreads(int readers) {
    this.readers = new ReaderPool("lectus-reader-", readers);
    this.changes = new ReaderPool("lectus-change-", Math.max(MIN_FOR_CHANGES, readers));
  }

  /** Whether reading waits for a thread. */
  public boolean haveToWait() {
    return readers.waiting() > 0;
  }

  @Override
  public void describe(Meters meters) {
    describe(meters.with("threads", "readers"), readers);
    describe(meters.with("threads", "changes"), changes);
  }

  private static void describe(Meters meters, ReaderPool pool) {
    meters.level("lectus_threads_waiting", "Pieces of work that wait for a thread.", pool::waiting);
    meters.level("lectus_threads_idle", "Threads with nothing to do.", pool::idle);
  }

  @Override
  public Executor of(Object client, Kind kind) {
    return readers.of(client, kind);
  }

  @Override
  public Executor ofChanges(Object client) {
    return changes.of(client, Kind.REQUEST);
  }

  @Override
  public Executor ofTails() {
    return readers.ofTails();
  }

  @Override
  public void left(Object client) {
    readers.left(client);
    changes.left(client);
  }

  @Override
  public void giveUpOverdue(LectusError why) {
    readers.giveUpOverdue(why);
    changes.giveUpOverdue(why);
  }

  @Override
  public void refuse(LectusError why) {
    readers.refuse(why);
    changes.refuse(why);
  }

  @Override
  public void refuseNoMore() {
    readers.refuseNoMore();
    changes.refuseNoMore();
  }

  /** Accepts no more work; finishes what waits. */
  @Override
  public void close() {
    readers.close();
    changes.close();
  }
}
