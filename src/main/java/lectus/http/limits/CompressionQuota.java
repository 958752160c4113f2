package lectus.http.limits;

import java.util.concurrent.atomic.AtomicInteger;
import lectus.metrics.Measured;
import lectus.metrics.Meters;

/**
 * How many answers of several parts may be compressed at a time: each has a window and tables, some
 * 256 kB that are not of the heap. Thread-safe.
 */
public final class CompressionQuota implements Measured {
  private final int most;
  private final AtomicInteger taken = new AtomicInteger();

  public CompressionQuota(int most) {
    this.most = most;
  }

  /** Returns whether there is a place for an answer; if so, it has to be left. */
  public boolean take() {
    if (taken.incrementAndGet() <= most) {
      return true;
    }
    taken.decrementAndGet();
    return false;
  }

  public void leave() {
    taken.decrementAndGet();
  }

  @Override
  public void describe(Meters meters) {
    meters.level(
        "lectus_http_compressed_streams",
        "Answers of several parts that are being compressed.",
        taken::get);
  }
}
