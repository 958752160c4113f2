package lectus.http.memory;

import java.util.concurrent.atomic.AtomicInteger;
import lectus.measure.Measured;
import lectus.measure.Meters;

/**
 * How many answers that last may be compressed at a time: each has a window and tables, some 256 kB
 * that are not of the heap. Live feeds last for days, so that they get only half of the places.
 * Thread-safe.
 */
public final class CompressionRoom implements Measured {
  private final int most;
  private final AtomicInteger answers = new AtomicInteger();
  private final AtomicInteger feeds = new AtomicInteger();

  public CompressionRoom(int most) {
    this.most = most;
  }

  /** Returns whether there is a place for an answer; if so, it has to be left. */
  public boolean takeForAnswer() {
    return take(answers, most - most / 2);
  }

  /** As {@link #takeForAnswer}, for a live feed. */
  public boolean takeForFeed() {
    return take(feeds, most / 2);
  }

  private static boolean take(AtomicInteger taken, int most) {
    if (taken.incrementAndGet() <= most) {
      return true;
    }
    taken.decrementAndGet();
    return false;
  }

  public void leftByAnswer() {
    answers.decrementAndGet();
  }

  public void leftByFeed() {
    feeds.decrementAndGet();
  }

  /** Returns how many are compressed. */
  public int taken() {
    return answers.get() + feeds.get();
  }

  @Override
  public void describe(Meters meters) {
    meters.level(
        "lectus_http_compressed_streams",
        "Answers of several parts, live feeds among them, that are being compressed.",
        this::taken);
  }
}
