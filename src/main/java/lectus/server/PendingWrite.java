package lectus.server;

import java.time.Duration;
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
