package lectus.metrics;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/**
 * How many values lay below which bounds, and their sum. Adding a value costs some nanoseconds and
 * no memory. Thread-safe; a reader may see a value's count before its sum.
 */
public final class Histogram {
  private static final long MICRO = 1_000;
  private static final long MILLI = 1_000 * MICRO;
  private static final long SECOND = 1_000 * MILLI;

  /** From what memory answers to what a client gives up. */
  private static final long[] TIMES = {
    50 * MICRO,
    100 * MICRO,
    250 * MICRO,
    500 * MICRO,
    MILLI,
    2_500 * MICRO,
    5 * MILLI,
    10 * MILLI,
    25 * MILLI,
    50 * MILLI,
    100 * MILLI,
    250 * MILLI,
    500 * MILLI,
    SECOND,
    2_500 * MILLI,
    5 * SECOND,
    10 * SECOND,
    60 * SECOND
  };

  private static final long[] SIZES = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024, 2_048, 4_096};

  private final long[] bounds;
  private final double unit;
  private final LongAdder[] counts;
  private final LongAdder sum = new LongAdder();

  private Histogram(long[] bounds, double unit) {
    this.bounds = bounds;
    this.unit = unit;
    this.counts = new LongAdder[bounds.length + 1];
    Arrays.setAll(counts, bucket -> new LongAdder());
  }

  /** Returns a spread of times, which are added in nanoseconds and shown in seconds. */
  public static Histogram ofTimes() {
    return new Histogram(TIMES, TimeUnit.SECONDS.toNanos(1));
  }

  public static Histogram ofSizes() {
    return new Histogram(SIZES, 1);
  }

  public void add(long value) {
    add(value, 1);
  }

  public void add(long value, long times) {
    if (!Counting.IS_ON) {
      return;
    }
    int bucket = 0;
    while (bucket < bounds.length && value > bounds[bucket]) {
      bucket++;
    }
    counts[bucket].add(times);
    sum.add(value * times);
  }

  /**
   * The values until now.
   *
   * @param bounds upper ones, inclusive, in the unit in which they are shown; the last is infinite
   * @param counts of the values between the bound before and this one
   */
  public record State(double[] bounds, long[] counts, double sum) {
    public long count() {
      return Arrays.stream(counts).sum();
    }

    /** Returns both together; they have the same bounds. */
    public State and(State other) {
      long[] both = counts.clone();
      Arrays.setAll(both, bucket -> counts[bucket] + other.counts[bucket]);
      return new State(bounds, both, sum + other.sum);
    }
  }

  public State state() {
    double[] shown = new double[counts.length];
    long[] counted = new long[counts.length];
    for (int bucket = 0; bucket < counts.length; bucket++) {
      shown[bucket] = bucket < bounds.length ? bounds[bucket] / unit : Double.POSITIVE_INFINITY;
      counted[bucket] = counts[bucket].sum();
    }
    return new State(shown, counted, sum.sum() / unit);
  }
}
