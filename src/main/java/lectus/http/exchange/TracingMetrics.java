package lectus.http.exchange;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import lectus.metrics.Meters;
import lectus.metrics.Meters.Measured;

/** What became of the spans of one server; nothing while tracing is off. Thread-safe. */
public final class TracingMetrics implements Measured {
  private final AtomicInteger waiting = new AtomicInteger();
  private final LongAdder sent = new LongAdder();
  private final LongAdder tooMany = new LongAdder();
  private final LongAdder unsent = new LongAdder();

  /**
   * Counts a span that is to be sent, unless too many wait already: then it is dropped.
   *
   * @param most may wait, those included that are being sent
   * @return whether it may wait
   */
  boolean admits(int most) {
    if (waiting.incrementAndGet() <= most) {
      return true;
    }
    waiting.decrementAndGet();
    tooMany.increment();
    return false;
  }

  /** Counts spans that the collector has taken, or has not. */
  void done(int spans, boolean isTaken) {
    waiting.addAndGet(-spans);
    (isTaken ? sent : unsent).add(spans);
  }

  @Override
  public void describe(Meters meters) {
    meters.count("lectus_tracing_spans_sent", "Spans that the collector took.", sent::sum);
    meters.level(
        "lectus_tracing_spans_waiting", "Spans that wait to be sent, or are sent.", waiting::get);
    dropped(meters, "queue", tooMany);
    dropped(meters, "collector", unsent);
  }

  private static void dropped(Meters meters, String reason, LongAdder count) {
    meters
        .with("reason", reason)
        .count(
            "lectus_tracing_spans_dropped",
            "Spans that were not sent, for too many waited or the collector took none.",
            count::sum);
  }
}
