package lectus.document.write;

import java.util.List;
import lectus.database.DatabaseName;
import lectus.document.edit.Edit;
import lectus.metrics.StageNotes;

/**
 * Queues edits for the transaction that commits them. Edits of one document are committed in the
 * order in which they were queued.
 */
public interface Writes {

  /** Receives the outcome of a write, once, on any thread. */
  interface Completion {
    /** Receives one outcome per edit, in order. */
    void written(List<EditOutcome> outcomes);

    /** None of the edits was stored, or it is unknown whether they were. */
    void failed(Throwable failure);

    /**
     * Whether a client waits for the write; then its memory is counted with the request. Otherwise
     * the write may wait in the queue for any time, and its memory counts there.
     */
    default boolean isAwaited() {
      return true;
    }

    /** Whether the client that waited has left, so that what was not begun may be dropped. */
    default boolean hasLeft() {
      return false;
    }

    /** Returns who is told what the write waited for. */
    default StageNotes stages() {
      return StageNotes.NONE;
    }
  }

  /**
   * Queues one edit.
   *
   * @param bytes approximate bytes of memory that it holds
   * @throws lectus.error.LectusException service_unavailable (503): the queue is full
   */
  void write(DatabaseName database, Edit edit, long bytes, Completion completion);

  /**
   * Queues many edits, each of which succeeds or fails independently.
   *
   * @param bytes approximate bytes of memory that they hold together
   * @throws lectus.error.LectusException service_unavailable (503): the queue is full
   */
  void writeAll(DatabaseName database, List<Edit> edits, long bytes, Completion completion);

  /**
   * Queues edits that are committed in one transaction or not at all.
   *
   * @param bytes approximate bytes of memory that they hold together
   * @throws lectus.error.LectusException service_unavailable (503): the queue is full
   */
  void writeAtomically(DatabaseName database, List<Edit> edits, long bytes, Completion completion);
}
