package lectus.server.writing;

import java.util.List;
import lectus.database.DatabaseName;
import lectus.document.edit.Edit;
import lectus.document.write.Writes.Completion;
import lectus.metrics.Stage;

/**
 * Edits of one request that wait for a transaction.
 *
 * @param atomic all of them or none, in a transaction of their own
 * @param bytes their approximate memory
 * @param deadline by which they have to be begun
 * @param queuedNanos since when they wait, if somebody wants to know
 */
record PendingWrite(
    DatabaseName database,
    List<Edit> edits,
    boolean atomic,
    long bytes,
    Completion completion,
    Deadline deadline,
    long queuedNanos) {

  PendingWrite(
      DatabaseName database,
      List<Edit> edits,
      boolean atomic,
      long bytes,
      Completion completion,
      Deadline deadline) {
    this(database, edits, atomic, bytes, completion, deadline, completion.stages().begin());
  }

  /** A write without a deadline. */
  PendingWrite(
      DatabaseName database, List<Edit> edits, boolean atomic, long bytes, Completion completion) {
    this(database, edits, atomic, bytes, completion, Deadline.NONE);
  }

  /** Notes that a transaction takes them. */
  void taken() {
    completion.stages().end(Stage.WRITE_QUEUE, queuedNanos);
  }
}
