package lectus.http.limits;

import java.util.concurrent.Executor;
import lectus.error.LectusError;

/**
 * The threads that read the store and do everything else that may block. Clients take turns at
 * them: a client with much to read waits for its own work, and others do not wait for it.
 * Thread-safe.
 */
public interface ReaderTurns {

  /** The kinds of work that need a thread. */
  enum Kind {
    /** All that a request reads, or the first part of its answer. */
    REQUEST,
    /** As {@link #REQUEST}, for a request whose body is large or compressed: it takes a while. */
    LARGE_BODY,
    /** Further parts of a long answer. */
    LONG_ANSWER,
    /** Pages of live tails, read for all listeners together; by {@link #ofTails} alone. */
    LIVE_TAIL,
    /** The first page that a feed's client waits for. */
    FEED,
    /** Further pages of a long feed. */
    LONG_FEED
  }

  /** Work that is useless once its client has left. */
  interface Droppable extends Runnable {
    /** Called instead of {@link #run}, on any thread; must not block. */
    void drop();
  }

  /** Work whose client is told when it has waited too long, or waits in vain. */
  interface Impatient extends Runnable {
    /**
     * @param nanoTime now, by {@link System#nanoTime}
     */
    boolean isOverdue(long nanoTime);

    /** Called instead of {@link #run}, on any thread; must not block. */
    void giveUp(LectusError why);
  }

  /**
   * Returns an executor of a client's work. It throws RejectedExecutionException when too much work
   * waits, of this client or of all.
   *
   * @param client whose turn the work takes, compared by {@code equals}: a connection
   */
  Executor of(Object client, Kind kind);

  /**
   * Returns an executor of changes to a database as a whole, which wait for commits. It refuses
   * work as {@link #of} does.
   */
  Executor ofChanges(Object client);

  /**
   * Returns an executor of live tails' pages. It refuses nothing: each tail has one page at a time,
   * and there are no more tails than listeners.
   */
  Executor ofTails();

  /**
   * Drops the waiting work of a client that has gone, except work that is not {@link Droppable}.
   */
  void left(Object client);
}
