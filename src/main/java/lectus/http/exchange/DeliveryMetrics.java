package lectus.http.exchange;

import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongUnaryOperator;
import lectus.metrics.Histogram;
import lectus.metrics.Meters;
import lectus.metrics.Meters.Measured;

/** The live feeds of all event loops, and how late their rows are. Thread-safe. */
public final class DeliveryMetrics implements Measured {
  private final LongUnaryOperator ageNanos;
  private final Histogram lag = Histogram.ofTimes();
  private final LongAdder rows = new LongAdder();
  private final LongAdder listeners = new LongAdder();
  private final LongAdder givenUp = new LongAdder();

  /**
   * @param ageNanos how long ago a commit of this version was answered
   */
  public DeliveryMetrics(LongUnaryOperator ageNanos) {
    this.ageNanos = ageNanos;
  }

  public void opened() {
    listeners.increment();
  }

  public void closed() {
    listeners.decrement();
  }

  /** Counts rows of one commit that were handed to a socket. */
  public void delivered(long commitVersion, int count) {
    lag.add(ageNanos.applyAsLong(commitVersion), count);
  }

  /** Counts rows that were handed to a socket, however old they are. */
  public void sent(int count) {
    rows.add(count);
  }

  /** Counts a client for which something was open, and which read nothing or said nothing. */
  public void gaveUp() {
    givenUp.increment();
  }

  public long listeners() {
    return listeners.sum();
  }

  @Override
  public void describe(Meters meters) {
    meters.level("lectus_feed_listeners", "Live feeds and subscriptions.", listeners::sum);
    meters.count("lectus_feed_rows", "Rows that were handed to live feeds.", rows::sum);
    meters.count(
        "lectus_clients_given_up",
        "Clients with a feed, a socket or an answer that nothing moved to or from.",
        givenUp::sum);
    meters.spread(
        "lectus_feed_delivery_lag_seconds",
        "From a row's commit to its hand-over to the socket of a feed that had caught up.",
        lag);
  }
}
