package lectus.http.limits;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import lectus.error.LectusError;
import lectus.metrics.DaemonThreads;
import lectus.metrics.Meters;
import lectus.metrics.Meters.Measured;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The threads that read the store and do everything else that may block. Clients share them in
 * turns ({@link FairQueue}): a client with much to read waits for its own work, and others do not
 * wait for it.
 *
 * <p>Requests that create, delete or configure a database wait for commits, one after the other,
 * and need hardly any memory meanwhile. Readers are few, as each may make a large page, so such
 * changes have threads of their own. Otherwise a few clients that create databases would keep
 * everybody from reading. Thread-safe.
 */
public final class RequestThreads implements StoreWatch.Waiting, Measured, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RequestThreads.class);
  private static final String FAILED = "Work on a reader's thread failed";

  /** The least number of threads for changes, however few readers there are. */
  private static final int MIN_FOR_CHANGES = 4;

  /** More work is refused: the answers would come too late for anybody. */
  private static final int MAX_WAITING = 20_000;

  private final Pool readers;
  private final Pool changes;

  /** The kinds of work that need a thread. */
  public enum Kind {
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

  /** Work whose client may leave, or lose patience, before it starts. */
  public interface Work extends Runnable {
    /** Whether it is useless once its client has left. */
    boolean isDroppable();

    /** Called instead of {@link #run} when the client has left; must not block. */
    void drop();

    /** Whether the client is told when it waits in vain. */
    boolean isAwaited();

    /**
     * Whether the client has waited too long.
     *
     * @param nanoTime now, by {@link System#nanoTime}
     */
    boolean isOverdue(long nanoTime);

    /** Called instead of {@link #run} when the client waits in vain; must not block. */
    void giveUp(LectusError why);
  }

  /**
   * @param readers threads that read
   */
  public RequestThreads(int readers) {
    this.readers = new Pool("lectus-reader-", readers);
    this.changes = new Pool("lectus-change-", Math.max(MIN_FOR_CHANGES, readers));
  }

  /**
   * Returns an executor of a client's work. It throws RejectedExecutionException when too much work
   * waits, of this client or of all.
   *
   * @param client compared by {@code equals}: a connection
   */
  public Executor of(Object client, Kind kind) {
    return readers.of(client, kind);
  }

  /**
   * Returns an executor of changes to a database as a whole, which wait for commits. It refuses
   * work as {@link #of} does.
   */
  public Executor ofChanges(Object client) {
    return changes.of(client, Kind.REQUEST);
  }

  /**
   * Returns an executor of live tails' pages. It refuses nothing: each tail has one page at a time,
   * and there are no more tails than listeners.
   */
  public Executor ofTails() {
    return readers.ofTails();
  }

  /** Drops the waiting work of a client that has left, except what is not droppable. */
  public void left(Object client) {
    readers.left(client);
    changes.left(client);
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

  private static void describe(Meters meters, Pool pool) {
    meters.level("lectus_threads_waiting", "Pieces of work that wait for a thread.", pool::waiting);
    meters.level("lectus_threads_idle", "Threads with nothing to do.", pool::idle);
  }

  @Override
  public void giveUpOverdue(LectusError why) {
    long now = System.nanoTime();
    readers.giveUp(work -> work.isOverdue(now), why);
    changes.giveUp(work -> work.isOverdue(now), why);
  }

  @Override
  public void refuse(LectusError why) {
    readers.refuse(why);
    changes.refuse(why);
  }

  @Override
  public void refuseNoMore() {
    readers.outage = Optional.empty();
    changes.outage = Optional.empty();
  }

  /** Accepts no more work; finishes what waits. */
  @Override
  public void close() {
    readers.close();
    changes.close();
  }

  /** Threads of one name, and their queue. */
  static final class Pool {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition hasWork = lock.newCondition();
    private final FairQueue queue;
    private int idle;
    private boolean closed;
    private volatile Optional<LectusError> outage = Optional.empty();

    /**
     * @param name prefix of the threads' names
     * @param threads of which feeds and large bodies get half, at least one
     */
    Pool(String name, int threads) {
      this.queue = new FairQueue(MAX_WAITING, Math.max(1, threads / 2));
      for (int number = 0; number < threads; number++) {
        DaemonThreads.of(this::serve, name + number).start();
      }
    }

    Executor of(Object client, Kind kind) {
      return task -> {
        Optional<LectusError> hopeless = outage;
        if (hopeless.isPresent() && task instanceof Work work && work.isAwaited()) {
          work.giveUp(hopeless.get());
        } else {
          add(() -> queue.add(client, kind, task));
        }
      };
    }

    Executor ofTails() {
      return task -> add(() -> queue.addTail(task));
    }

    private void add(Runnable adding) {
      lock.lock();
      try {
        if (closed) {
          throw new RejectedExecutionException("The server stops");
        }
        adding.run();
        if (idle > 0 && queue.hasNext()) {
          hasWork.signal();
        }
      } finally {
        lock.unlock();
      }
    }

    void refuse(LectusError why) {
      outage = Optional.of(why);
      giveUp(Work::isAwaited, why);
    }

    /** All removed work is answered here: nobody else would do it. */
    void giveUp(Predicate<Work> inVain, LectusError why) {
      List<Work> removed = new ArrayList<>();
      try {
        lock.lock();
        try {
          queue.giveUp(inVain, removed);
        } finally {
          lock.unlock();
        }
      } finally {
        removed.forEach(work -> guarded(() -> work.giveUp(why)));
      }
    }

    void left(Object client) {
      List<Work> dropped;
      lock.lock();
      try {
        dropped = queue.drop(client);
      } finally {
        lock.unlock();
      }
      dropped.forEach(Work::drop);
    }

    int waiting() {
      lock.lock();
      try {
        return queue.waiting();
      } finally {
        lock.unlock();
      }
    }

    int idle() {
      lock.lock();
      try {
        return idle;
      } finally {
        lock.unlock();
      }
    }

    void close() {
      lock.lock();
      try {
        closed = true;
        hasWork.signalAll();
      } finally {
        lock.unlock();
      }
    }

    /** A thread lost to a defect would be lost to all clients. */
    private void serve() {
      boolean open = true;
      while (open) {
        try {
          open = serveOne();
        } catch (Throwable e) {
          DaemonThreads.complain(LOG, FAILED, e);
        }
      }
    }

    /** Returns false when the pool has ended. */
    private boolean serveOne() {
      FairQueue.Next next = take();
      if (next == null) {
        return false;
      }
      try {
        next.work().run();
      } finally {
        if (next.isSlow()) {
          slowDone();
        }
      }
      return true;
    }

    /** Returns null when the pool is closed and everything is done. */
    private FairQueue.Next take() {
      lock.lock();
      try {
        while (!queue.hasNext()) {
          if (closed) {
            return null;
          }
          idle++;
          try {
            hasWork.awaitUninterruptibly();
          } finally {
            idle--;
          }
        }
        return queue.next();
      } finally {
        lock.unlock();
      }
    }

    private void slowDone() {
      lock.lock();
      try {
        queue.slowDone();
      } finally {
        lock.unlock();
      }
    }

    private static void guarded(Runnable action) {
      try {
        action.run();
      } catch (Throwable e) {
        DaemonThreads.complain(LOG, FAILED, e);
      }
    }
  }
}
