package lectus.measure;

import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLongArray;

/** How often, and for how long together, one request waited for each stage. */
public final class StageTimes implements StageNotes {
  private static final int STAGES = Stage.values().length;

  private final AtomicIntegerArray counts = new AtomicIntegerArray(STAGES);
  private final AtomicLongArray nanos = new AtomicLongArray(STAGES);

  @Override
  public boolean isOn() {
    return true;
  }

  @Override
  public void add(Stage stage, long fromNanos, long toNanos) {
    counts.incrementAndGet(stage.ordinal());
    nanos.addAndGet(stage.ordinal(), Math.max(0, toNanos - fromNanos));
  }

  public int count(Stage stage) {
    return counts.get(stage.ordinal());
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
