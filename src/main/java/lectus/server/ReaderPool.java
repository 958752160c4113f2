package lectus.server;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import lectus.error.LectusError;
import lectus.http.ReaderTurns;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The threads that read the store, at which clients take turns ({@link ReaderQueue}). */
final class ReaderPool implements ReaderTurns, WaitingRoom, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ReaderPool.class);

  /** Refused beyond it: the answers would come too late for anybody. */
  private static final int MOST_WAITING = 20_000;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition work = lock.newCondition();
  private final ReaderQueue queue;
  private int idle;
  private boolean closed;
  private volatile Optional<LectusError> outage = Optional.empty();

  /**
   * @param threads of which feeds get half, at least one
   */
  ReaderPool(int threads) {
    this(threads, MOST_WAITING);
  }

  ReaderPool(int threads, int mostWaiting) {
    this.queue = new ReaderQueue(mostWaiting, Math.max(1, threads / 2));
    for (int number = 0; number < threads; number++) {
      Thread thread = new Thread(this::serve, "lectus-reader-" + number);
      thread.setDaemon(true);
      thread.start();
    }
  }

  @Override
  public Executor of(Object client, Kind kind) {
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

  /** Whatever was taken out is answered: nobody else would. */
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

  @Override
  public Executor ofTails() {
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

  @Override
  public void left(Object client) {
    List<Droppable> dropped = new ArrayList<>();
    lock.lock();
    try {
      dropped.addAll(queue.drop(client));
    } finally {
      lock.unlock();
    }
    dropped.forEach(Droppable::drop);
  }

  /** Takes no more work; what waits is still done. */
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

  /** False when there is nothing more to do, ever. */
  private boolean serveOne() {
    ReaderQueue.Turn turn = take();
    if (turn == null) {
      return false;
    }
    try {
      turn.work().run();
    } finally {
      if (turn.isFeed()) {
        feedDone();
      }
    }
    return true;
  }

  private static void complain(Throwable failure) {
    try {
      LOG.error("Work on a reader's thread failed", failure);
    } catch (Throwable unsaid) {
      // There may be no memory to say so; the next piece of work counts more.
    }
  }

  /** Null when the pool is closed and everything is done. */
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

  private void feedDone() {
    lock.lock();
    try {
      queue.feedDone();
    } finally {
      lock.unlock();
    }
  }
}
