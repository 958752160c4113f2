package lectus.http.limits;

import java.util.concurrent.atomic.AtomicInteger;
import lectus.metrics.Meters;
import lectus.metrics.Meters.Measured;

/**
 * The accounts of the memory that clients make a server hold.
 *
 * @param bodies of running requests, in bytes of JSON: parsed they take a multiple
 * @param messages of WebSockets that are incomplete or wait to be handled
 * @param pages of feeds and large answers that wait for their clients
 * @param filters of live feeds, as long as these live
 * @param compression the places of compressed answers, whose memory is not of the heap
 */
public record ClientMemory(
    BodyMemory bodies,
    MemoryAccount messages,
    MemoryAccount pages,
    MemoryAccount filters,
    CompressionQuota compression)
    implements Measured {
  @Override
  public void describe(Meters meters) {
    bodies.describe(meters.with("account", "bodies"));
    messages.describe(meters.with("account", "messages"));
    pages.describe(meters.with("account", "pages"));
    filters.describe(meters.with("account", "filters"));
    compression.describe(meters);
  }

  /**
   * How many answers of several parts may be compressed at a time: each has a window and tables,
   * some 256 kB that are not of the heap. Thread-safe.
   */
  public static final class CompressionQuota implements Measured {
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
}
