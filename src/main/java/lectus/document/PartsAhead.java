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
 * Computes the parts of a piece of work ahead of the caller, who takes the results in order. An
 * executor's threads help when they have time. The calling thread runs any part that no helper has
 * begun, so it never waits for a free thread. A part may wait for the store, but for nothing else.
 * Confined to one thread, except for the parts themselves.
 */
public final class PartsAhead<T> {
  private final Executor helpers;
  private final Deque<Part<T>> parts = new ArrayDeque<>();

  public PartsAhead(Executor helpers) {
    this.helpers = helpers;
  }

  /**
   * A task handed to helpers. They may get to it long after it was done, so a part whose result was
   * taken keeps neither its input nor its result.
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
      // The thread that takes the result runs the part instead.
    }
  }

  /**
   * Returns the first part's result. While another thread computes it, this thread runs later
   * parts.
   */
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

  /** Cancels the parts that nobody has begun. */
  public void cancel() {
    parts.forEach(part -> part.release().cancel(false));
    parts.clear();
  }
}
