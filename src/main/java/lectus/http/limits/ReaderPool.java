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
import lectus.http.limits.ReaderTurns.Droppable;
import lectus.http.limits.ReaderTurns.Impatient;
import lectus.http.limits.ReaderTurns.Kind;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Threads at which clients take turns ({@link ReaderQueue}). */
public final class ReaderPool implements WaitingRequests, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ReaderPool.class);

  /** More work is refused: the answers would come too late for anybody. */
  private static final int MAX_WAITING = 20_000;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition work = lock.newCondition();
  private final ReaderQueue queue;
  private int idle;
  private boolean closed;
  private volatile Optional<LectusError> outage = Optional.empty();

  /**
   * @param name prefix of the threads' names
   * @param threads of which feeds and large bodies get half, at least one
   */
  ReaderPool(String name, int threads) {
    this(name, threads, MAX_WAITING);
  }

  ReaderPool(String name, int threads, int mostWaiting) {
    this.queue = new ReaderQueue(mostWaiting, Math.max(1, threads / 2));
    for (int number = 0; number < threads; number++) {
      Thread thread = new Thread(this::serve, name + number);
      thread.setDaemon(true);
      thread.start();
    }
  }

  /** As {@link lectus.http.limits.ReaderTurns#of}. */
  Executor of(Object client, Kind kind) {
    return task -> {
      Optional<LectusError> hopeless = outage;
      if (task instanceof Impatient request && hopeless.isPresent()) {
        request.giveUp(hopeless.get());
      } else {
        add(() -> queue.add(client, kind, task));
      }
    };
  }

  @Override
  public void giveUpOverdue(LectusError why) {
    long now = System.nanoTime();
    giveUp(request -> request.isOverdue(now), why);
  }

  @Override
  public void refuse(LectusError why) {
    outage = Optional.of(why);
    giveUp(request -> true, why);
  }

  @Override
  public void refuseNoMore() {
    outage = Optional.empty();
  }

  /** All removed work is answered here: nobody else would do it. */
  private void giveUp(Predicate<Impatient> inVain, LectusError why) {
    List<Impatient> given = new ArrayList<>();
    try {
      takeOut(inVain, given);
    } finally {
      given.forEach(request -> giveUp(request, why));
    }
  }

  private void takeOut(Predicate<Impatient> inVain, List<Impatient> given) {
    lock.lock();
    try {
      queue.giveUp(inVain, given);
    } finally {
      lock.unlock();
    }
  }

  private static void giveUp(Impatient request, LectusError why) {
    try {
      request.giveUp(why);
    } catch (Throwable e) {
      complain(e);
    }
  }

  /** Returns how much work waits. */
  int waiting() {
    lock.lock();
    try {
      return queue.waiting();
    } finally {
      lock.unlock();
    }
  }

  /** Returns how many threads have nothing to do. */
  int idle() {
    lock.lock();
    try {
      return idle;
    } finally {
      lock.unlock();
    }
  }

  /** As {@link lectus.http.limits.ReaderTurns#ofTails}. */
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
        work.signal();
      }
    } finally {
      lock.unlock();
    }
  }

  /** As {@link lectus.http.limits.ReaderTurns#left}. */
  void left(Object client) {
    List<Droppable> dropped = new ArrayList<>();
    lock.lock();
    try {
      dropped.addAll(queue.drop(client));
    } finally {
      lock.unlock();
    }
    dropped.forEach(Droppable::drop);
  }

  /** Accepts no more work; finishes what waits. */
  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      work.signalAll();
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
        complain(e);
      }
    }
  }

  /** Returns false when the pool has ended. */
  private boolean serveOne() {
    ReaderQueue.Turn turn = take();
    if (turn == null) {
      return false;
    }
    try {
      turn.work().run();
    } finally {
      if (turn.isSlow()) {
        slowDone();
      }
    }
    return true;
  }

  private static void complain(Throwable failure) {
    try {
      LOG.error("Work on a reader's thread failed", failure);
    } catch (Throwable unsaid) {
      // There may be no memory to log this; the next piece of work matters more.
    }
  }

  /** Returns null when the pool is closed and everything is done. */
  private ReaderQueue.Turn take() {
    lock.lock();
    try {
      while (!queue.hasNext()) {
        if (closed) {
          return null;
        }
        idle++;
        try {
          work.awaitUninterruptibly();
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
}
