package lectus.server;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import lectus.database.DatabaseName;
import lectus.document.edit.Edit;
import lectus.document.write.EditFailures;
import lectus.document.write.EditOutcome;
import lectus.document.write.UnjudgedEdits;
import lectus.document.write.Writes.Completion;
import lectus.metrics.Stage;
import lectus.metrics.StageNotes;

/**
 * Edits of one request that wait for a transaction.
 *
 * @param atomic all of them or none, in a transaction of their own
 * @param bytes their approximate memory
 * @param deadline by which they have to be begun
 * @param judged the edits with what functions have said of them; empty if none was asked
 * @param queuedNanos since when they wait, if somebody wants to know
 */
record PendingWrite(
    DatabaseName database,
    List<Edit> edits,
    boolean atomic,
    long bytes,
    Completion completion,
    Deadline deadline,
    Optional<UnjudgedEdits> judged,
    long queuedNanos) {

  PendingWrite(
      DatabaseName database,
      List<Edit> edits,
      boolean atomic,
      long bytes,
      Completion completion,
      Deadline deadline) {
    this(database, edits, atomic, bytes, completion, deadline, Optional.empty());
  }

  private PendingWrite(
      DatabaseName database,
      List<Edit> edits,
      boolean atomic,
      long bytes,
      Completion completion,
      Deadline deadline,
      Optional<UnjudgedEdits> judged) {
    this(database, edits, atomic, bytes, completion, deadline, judged, completion.stages().begin());
  }

  /** A write without a deadline. */
  PendingWrite(
      DatabaseName database, List<Edit> edits, boolean atomic, long bytes, Completion completion) {
    this(database, edits, atomic, bytes, completion, Deadline.NONE);
  }

  /**
   * Returns what is left of the write, which completes it.
   *
   * @param left its edits that were unjudged, with the verdicts
   */
  PendingWrite judged(UnjudgedEdits left) {
    return new PendingWrite(
        database,
        left.edits(),
        atomic,
        bytes,
        new Rest(left, completion),
        deadline,
        Optional.of(left));
  }

  /** Completes the write with the outcomes of what was left of it. */
  private record Rest(UnjudgedEdits left, Completion completion) implements Completion {
    @Override
    public void written(List<EditOutcome> outcomes) {
      completion.written(left.with(outcomes));
    }

    @Override
    public void failed(Throwable failure) {
      if (left.areOthersDone()) {
        completion.written(left.failed(EditFailures.errorOf(failure)));
      } else {
        completion.failed(failure);
      }
    }

    @Override
    public boolean isAwaited() {
      return completion.isAwaited();
    }

    @Override
    public boolean hasLeft() {
      return completion.hasLeft();
    }

    @Override
    public StageNotes stages() {
      return completion.stages();
    }
  }

  /** Notes that a transaction takes them. */
  void taken() {
    completion.stages().end(Stage.WRITE_QUEUE, queuedNanos);
  }

  /**
   * The time by which a waiting client is to be answered.
   *
   * @param isSet false: there is no deadline
   * @param nanoTime by {@link System#nanoTime}
   */
  record Deadline(boolean isSet, long nanoTime) {
    static final Deadline NONE = new Deadline(false, 0);

    static Deadline in(Duration time) {
      return new Deadline(true, System.nanoTime() + time.toNanos());
    }

    boolean isOver(long now) {
      return isSet && now - nanoTime >= 0;
    }

    /**
     * Returns how much time is left.
     *
     * @param most at most, or without a deadline
     */
    Duration left(Duration most) {
      Duration left = Duration.ofNanos(nanoTime - System.nanoTime());
      return isSet && left.compareTo(most) < 0 ? left : most;
    }
  }
}
