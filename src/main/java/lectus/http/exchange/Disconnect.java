package lectus.http.exchange;

import java.util.concurrent.Executor;
import lectus.error.LectusError;
import lectus.http.limits.ReaderTurns.Droppable;
import lectus.http.limits.ReaderTurns.Impatient;

/**
 * Whether the client of one request is still there. Over HTTP/2 a client may give up a request and
 * keep its connection. Thread-safe.
 */
final class Disconnect {
  private volatile boolean left;

  void leave() {
    left = true;
  }

  /** Returns what happens when the client leaves. */
  Runnable leaving(Runnable action) {
    return () -> {
      leave();
      action.run();
    };
  }

  boolean hasLeft() {
    return left;
  }

  /** Returns an executor that drops work, instead of starting it, once the client has left. */
  Executor guarding(Executor readers) {
    return task -> readers.execute(task instanceof Droppable work ? guarded(work) : task);
  }

  private Runnable guarded(Droppable work) {
    Wanted wanted = new Wanted(work);
    return work instanceof Impatient request ? new WantedSoon(wanted, request) : wanted;
  }

  private final class Wanted implements Droppable {
    private final Droppable work;

    Wanted(Droppable work) {
      this.work = work;
    }

    @Override
    public void run() {
      if (left) {
        work.drop();
      } else {
        work.run();
      }
    }

    @Override
    public void drop() {
      work.drop();
    }
  }

  private record WantedSoon(Wanted wanted, Impatient request) implements Droppable, Impatient {
    @Override
    public void run() {
      wanted.run();
    }

    @Override
    public void drop() {
      wanted.drop();
    }

    @Override
    public boolean isOverdue(long nanoTime) {
      return request.isOverdue(nanoTime);
    }

    @Override
    public void giveUp(LectusError why) {
      request.giveUp(why);
    }
  }
}
