package lectus.http;

import java.util.concurrent.Executor;
import lectus.error.LectusError;

/**
 * The threads that read the store, and everything else that may wait. Clients take turns at them:
 * whoever has much to read waits behind its own work, not others behind it. For any thread.
 */
public interface ReaderTurns {

  /** What a thread is wanted for. */
  enum Kind {
    /** All that a request reads, or the first part of its answer. */
    REQUEST,
    /** Further parts of a long answer. */
    LONG_ANSWER,
    /** Pages of live tails, read for all listeners together; by {@link #ofTails} alone. */
    LIVE_TAIL,
    /** The first page that a feed's client waits for. */
    FEED,
    /** Further pages of a long feed. */
    LONG_FEED
  }

  /** Work that is of no use to anybody once its client has left. */
  interface Droppable extends Runnable {
    /** Called in place of {@link #run}, on any thread; must not wait. */
    void drop();
  }

  /** Work whose client is told when it has waited for too long, or waits in vain. */
  interface Impatient extends Runnable {
    /**
     * @param nanoTime now, by {@link System#nanoTime}
     */
    boolean isOverdue(long nanoTime);

    /** Called in place of {@link #run}, on any thread; must not wait. */
    void giveUp(LectusError why);
  }

  /**
   * Runs work for a client; refuses with RejectedExecutionException when too much waits, for this
   * client or for all.
   *
   * @param client whose turn it takes, by {@code equals}: a connection
   */
  Executor of(Object client, Kind kind);

  /**
   * Runs pages of live tails. Nothing is refused: each tail has one page at a time, and there are
   * no more tails than listeners.
   */
  Executor ofTails();

  /** Drops what waits for a client that is gone, but for work that is no {@link Droppable}. */
  void left(Object client);
}
