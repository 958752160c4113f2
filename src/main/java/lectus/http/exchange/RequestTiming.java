package lectus.http.exchange;

import io.vertx.core.Future;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import lectus.http.Method;
import lectus.http.exchange.RequestTrace.AnsweredRequest;
import lectus.metrics.LogFormat.SentText;
import lectus.metrics.Stage;
import lectus.metrics.StageNotes;
import lectus.metrics.StageTimes;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.spi.LoggingEventBuilder;

/**
 * What one request waits for until its client has the whole answer, if anybody wants to know. For
 * the connection's event loop.
 */
final class RequestTiming {
  private final Optional<RequestTrace> trace;
  private final Optional<StageTimes> times;
  private final Optional<SlowRequests> slow;
  private boolean sending;
  private Runnable end;

  /**
   * @param trace empty: the request is not traced
   * @param slow logs it if it takes long
   */
  RequestTiming(Optional<RequestTrace> trace, Optional<SlowRequests> slow) {
    this.trace = trace;
    this.slow = slow;
    this.times = trace.map(RequestTrace::times).or(() -> slow.map(it -> new StageTimes()));
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
    slow.ifPresent(it -> it.ended(exchange, status, times.get()));
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

  /**
   * Logs requests that took long, each with what it waited for. When everything is slow, some of
   * them have to do. For one event loop.
   */
  static final class SlowRequests {
    private static final Logger LOG = LoggerFactory.getLogger("lectus.slow");

    private static final int SWITCHING_PROTOCOLS = 101;

    /** Lines of one event loop. */
    static final int MAX_PER_SECOND = 5;

    private static final long SECOND_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final long thresholdNanos;
    private final LongSupplier nanoTime;
    private long secondBegan;
    private int inThisSecond;
    private int unlogged;

    /**
     * @param thresholdMillis 0: none is logged
     */
    SlowRequests(int thresholdMillis, LongSupplier nanoTime) {
      this.thresholdNanos = TimeUnit.MILLISECONDS.toNanos(thresholdMillis);
      this.nanoTime = nanoTime;
      this.secondBegan = nanoTime.getAsLong();
    }

    /** Feeds and sockets last as long as their clients like. */
    void ended(Exchange exchange, int status, StageTimes times) {
      long took = System.nanoTime() - exchange.startNanos();
      if (took >= thresholdNanos && !exchange.isFeed() && status != SWITCHING_PROTOCOLS) {
        if (mayLog()) {
          log(exchange, status, took, times);
        } else {
          unlogged++;
        }
      }
    }

    /** Whether a line may be written now. */
    boolean mayLog() {
      long now = nanoTime.getAsLong();
      if (now - secondBegan >= SECOND_NANOS) {
        secondBegan = now;
        inThisSecond = 0;
      }
      return inThisSecond++ < MAX_PER_SECOND;
    }

    private void log(Exchange exchange, int status, long took, StageTimes times) {
      LoggingEventBuilder line = exchange.label().on(LOG.atWarn());
      line = line.addKeyValue("method", new SentText(exchange.request().method().name()));
      line = line.addKeyValue("path", new SentText(exchange.rawPath()));
      line =
          line.addKeyValue("status", status)
              .addKeyValue("micros", TimeUnit.NANOSECONDS.toMicros(took));
      for (Stage stage : Stage.values()) {
        if (times.count(stage) > 0) {
          line = line.addKeyValue(stage.text(), times.count(stage));
          line =
              line.addKeyValue(
                  stage.text() + "_micros", TimeUnit.NANOSECONDS.toMicros(times.nanos(stage)));
        }
      }
      if (unlogged > 0) {
        line = line.addKeyValue("unlogged", unlogged);
        unlogged = 0;
      }
      line.log("{}", sentence(took, times));
    }

    /** Names what took at least half of the time. */
    private static String sentence(long took, StageTimes times) {
      Stage longest = times.longest();
      return times.ownNanos(longest) >= took / 2
          ? "slow request, which waited for " + longest.text()
          : "slow request";
    }
  }
}
