package lectus.document;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;

/**
 * The parts of one piece of work, done ahead of whoever takes their results in order. Threads of an
 * executor help as they have time; the thread that takes results does what no helper has begun, so
 * that it never waits for a thread. A part may wait for the store, but for nothing else. For one
 * thread, apart from the parts.
 */
public final class PartsAhead<T> {
  private final Executor helpers;
  private final Deque<Part<T>> parts = new ArrayDeque<>();

  public PartsAhead(Executor helpers) {
    this.helpers = helpers;
  }

  /**
   * What helpers are handed. They may come to it long after it was done, so a part that was taken
   * holds neither its input nor its result any more.
   */
  private static final class Part<T> implements Runnable {
    private volatile FutureTask<T> task;

    Part(Callable<T> work) {
      this.task = new FutureTask<>(work);
    }

    @Override
    public void run() {
      FutureTask<T> begun = task;
      if (begun != null) {
        begun.run();
      }
    }

    FutureTask<T> release() {
      FutureTask<T> released = task;
      task = null;
      return released;
    }
  }

  public int size() {
    return parts.size();
  }

  public void add(Callable<T> work) {
    parts.add(new Part<>(work));
    if (parts.size() > 1) {
      offer(parts.getLast());
    }
  }

  private void offer(Part<T> part) {
    try {
      helpers.execute(part);
    } catch (RejectedExecutionException busy) {
      // Then it is done by the thread that takes it.
    }
  }

  /** The first part's result. While another thread is at it, this one does those behind it. */
  public T take() {
    FutureTask<T> first = parts.remove().release();
    first.run();
    for (Part<T> next : parts) {
      if (first.isDone()) {
        break;
      }
      next.run();
    }
    return resultOf(first);
  }

  private static <T> T resultOf(FutureTask<T> part) {
    try {
      return part.get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof Error error) {
        throw error;
      }
      throw e.getCause() instanceof RuntimeException cause ? cause : new IllegalStateException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CancellationException("interrupted while a part of a page was read");
    }
  }

  /** Nobody begins what is left. */
  public void cancel() {
    parts.forEach(part -> part.release().cancel(false));
    parts.clear();
  }
}
