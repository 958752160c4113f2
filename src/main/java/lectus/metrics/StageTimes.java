package lectus.metrics;

import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLongArray;

/** How often, and for how long together, one request waited for each stage. */
public final class StageTimes implements StageNotes {
  /** Waits for one stage that are kept, of a request that reads a million pages, too. */
  static final int MAX_WAITS = 16;

  private static final int STAGES = Stage.values().length;

  private final AtomicIntegerArray counts = new AtomicIntegerArray(STAGES);
  private final AtomicLongArray nanos = new AtomicLongArray(STAGES);
  private final Optional<Queue<Wait>> waits;

  private StageTimes(Optional<Queue<Wait>> waits) {
    this.waits = waits;
  }

  /** Only the sums. */
  public StageTimes() {
    this(Optional.empty());
  }

  /** Keeps the first waits for each stage one by one, too. */
  public static StageTimes keepingWaits() {
    return new StageTimes(Optional.of(new ConcurrentLinkedQueue<>()));
  }

  /**
   * One wait.
   *
   * @param fromNanos by {@link System#nanoTime}
   */
  public record Wait(Stage stage, long fromNanos, long toNanos) {
    /** Whether all of another wait lies within this one. */
    public boolean contains(Wait other) {
      return other.fromNanos - fromNanos >= 0 && toNanos - other.toNanos >= 0;
    }
  }

  @Override
  public void add(Stage stage, long fromNanos, long toNanos) {
    int count = counts.incrementAndGet(stage.ordinal());
    if (count <= MAX_WAITS) {
      waits.ifPresent(kept -> kept.add(new Wait(stage, fromNanos, toNanos)));
    }
    nanos.addAndGet(stage.ordinal(), Math.max(0, toNanos - fromNanos));
  }

  public int count(Stage stage) {
    return counts.get(stage.ordinal());
  }

  public long count() {
    long all = 0;
    for (Stage stage : Stage.values()) {
      all += count(stage);
    }
    return all;
  }

  /** Returns the waits that were kept, in the order in which they ended. */
  public List<Wait> waits() {
    return waits.map(List::copyOf).orElse(List.of());
  }

  public long nanos(Stage stage) {
    return nanos.get(stage.ordinal());
  }

  /** Returns the stage that took longest by itself. */
  public Stage longest() {
    Stage longest = Stage.TURN;
    for (Stage stage : Stage.values()) {
      longest = ownNanos(stage) > ownNanos(longest) ? stage : longest;
    }
    return longest;
  }

  /** Returns the time of a stage, that of a transaction without its parts. */
  public long ownNanos(Stage stage) {
    return stage == Stage.TRANSACTION
        ? nanos(stage) - nanos(Stage.READ) - nanos(Stage.COMMIT) - nanos(Stage.RETRY)
        : nanos(stage);
  }
}
