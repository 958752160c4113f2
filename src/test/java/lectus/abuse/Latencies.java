package lectus.abuse;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** The latencies of answers. */
public final class Latencies {
  private final List<Long> nanos = new ArrayList<>();

  synchronized void add(long time) {
    nanos.add(time);
  }

  /** Forgets all earlier latencies. */
  public synchronized void reset() {
    nanos.clear();
  }

  public synchronized int count() {
    return nanos.size();
  }

  /**
   * Returns the latency that so many percent did not exceed.
   *
   * @throws IllegalStateException if there was no answer
   */
  public synchronized Duration percentile(double percent) {
    if (nanos.isEmpty()) {
      throw new IllegalStateException("Nothing was answered");
    }
    List<Long> sorted = new ArrayList<>(nanos);
    Collections.sort(sorted);
    int rank = (int) Math.ceil(sorted.size() * percent / 100) - 1;
    return Duration.ofNanos(sorted.get(Math.max(0, rank)));
  }
}
