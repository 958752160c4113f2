package lectus.http.exchange;

import io.vertx.core.Future;
import java.util.Optional;
import lectus.measure.Stage;
import lectus.measure.StageNotes;
import lectus.measure.StageTimes;

/**
 * What one request waits for until its client has the whole answer, if anybody wants to know. For
 * the connection's event loop.
 */
final class Course {
  private final Optional<StageTimes> times;
  private boolean sending;
  private Runnable end;

  /**
   * @param times empty: nobody wants to know
   */
  Course(Optional<StageTimes> times) {
    this.times = times;
  }

  /** Returns who is told of waits, on any thread. */
  StageNotes stages() {
    return times.isPresent() ? times.get() : StageNotes.NONE;
  }

  /**
   * Notes that the last part of the answer has been handed over.
   *
   * @param sent completes when the socket has taken it, or never will
   */
  void sends(Future<Void> sent) {
    if (times.isPresent() && !sent.isComplete()) {
      sending = true;
      long begun = stages().begin();
      sent.onComplete(done -> sent(begun));
    }
  }

  private void sent(long begun) {
    stages().end(Stage.SOCKET_OUT, begun);
    sending = false;
    if (end != null) {
      end.run();
    }
  }

  /** Tells {@code observer} once, when the answered request has been sent. */
  void answered(Exchange exchange, int status, SlowRequests observer) {
    if (times.isEmpty() || end != null) {
      return;
    }
    end = () -> observer.ended(exchange, status, times.get());
    if (!sending) {
      end.run();
    }
  }
}
