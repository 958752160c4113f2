package lectus.server;

import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
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
 * @param deadline by which they have to be begun, by {@link System#nanoTime}; empty: there is none
 * @param judged the edits with what functions have said of them; empty if none was asked
 * @param queuedNanos since when they wait, if somebody wants to know
 */
record PendingWrite(
    DatabaseName database,
    List<Edit> edits,
    boolean atomic,
    long bytes,
    Completion completion,
    OptionalLong deadline,
    Optional<UnjudgedEdits> judged,
    long queuedNanos) {

  PendingWrite(
      DatabaseName database,
      List<Edit> edits,
      boolean atomic,
      long bytes,
      Completion completion,
      OptionalLong deadline) {
    this(database, edits, atomic, bytes, completion, deadline, Optional.empty());
  }

  private PendingWrite(
      DatabaseName database,
      List<Edit> edits,
      boolean atomic,
      long bytes,
      Completion completion,
      OptionalLong deadline,
      Optional<UnjudgedEdits> judged) {
    this(database, edits, atomic, bytes, completion, deadline, judged, completion.stages().begin());
  }

  /** A write without a deadline. */
  PendingWrite(
      DatabaseName database, List<Edit> edits, boolean atomic, long bytes, Completion completion) {
    this(database, edits, atomic, bytes, completion, OptionalLong.empty());
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
}
