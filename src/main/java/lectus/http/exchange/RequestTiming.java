package lectus.http.exchange;

import io.vertx.core.Future;
import java.util.Optional;
import lectus.http.Method;
import lectus.http.exchange.RequestTrace.AnsweredRequest;
import lectus.metrics.Stage;
import lectus.metrics.StageNotes;
import lectus.metrics.StageTimes;

/**
 * What one request waits for until its client has the whole answer, if anybody wants to know. For
 * the connection's event loop.
 */
final class RequestTiming {
  private final Optional<RequestTrace> trace;
  private final Optional<StageTimes> times;
  private final SlowRequests slow;
  private boolean sending;
  private Runnable end;

  /**
   * @param trace empty: the request is not traced
   * @param slow logs it if it takes long
   */
  RequestTiming(Optional<RequestTrace> trace, SlowRequests slow) {
    this.trace = trace;
    this.slow = slow;
    this.times =
        trace
            .map(RequestTrace::times)
            .or(() -> slow.isOn() ? Optional.of(new StageTimes()) : Optional.empty());
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

  /** Ends the trace, and logs a slow request, once, when the answered request has been sent. */
  void answered(Exchange exchange, int status) {
    if (times.isEmpty() || end != null) {
      return;
    }
    end = () -> ended(exchange, status);
    if (!sending) {
      end.run();
    }
  }

  private void ended(Exchange exchange, int status) {
    slow.ended(exchange, status, times.get());
    trace.ifPresent(it -> it.end(answeredRequest(exchange, status)));
  }

  private static AnsweredRequest answeredRequest(Exchange exchange, int status) {
    RouteTemplate route = exchange.route();
    return new AnsweredRequest(
        Optional.of(exchange.method()).filter(it -> it != Method.OTHER).map(Method::name),
        Optional.of(route)
            .filter(it -> !it.equals(RouteTemplate.unknown()))
            .map(RouteTemplate::text),
        exchange.label().database(),
        exchange.id(),
        status);
  }
}
