package lectus.http;

import java.util.List;
import lectus.database.DatabaseName;
import lectus.document.edit.Edit;
import lectus.document.write.EditOutcome;

/**
 * Where edits wait for the transaction that commits them. Edits of one document are committed in
 * the order in which they were given.
 */
public interface Writes {

  /** Told once, on any thread, what became of a write. */
  interface Completion {
    /** One outcome for each edit, in their order. */
    void written(List<EditOutcome> outcomes);

    /** None of the edits was stored, or nobody knows. */
    void failed(Throwable failure);

    /** Whether somebody waits for it; else the write waits for its turn however long it takes. */
    default boolean isAwaited() {
      return true;
    }
  }

  /**
   * Queues one edit.
   *
   * @param bytes about what it holds in memory
   * @throws lectus.error.LectusException service_unavailable (503): the queue is full
   */
  void write(DatabaseName database, Edit edit, long bytes, Completion completion);

  /**
   * Queues many edits, each of which succeeds or fails for itself.
   *
   * @param bytes about what they hold in memory, all together
   * @throws lectus.error.LectusException service_unavailable (503): the queue is full
   */
  void writeAll(DatabaseName database, List<Edit> edits, long bytes, Completion completion);

  /**
   * Queues edits that are committed in one transaction or not at all.
   *
   * @param bytes about what they hold in memory, all together
   * @throws lectus.error.LectusException service_unavailable (503): the queue is full
   */
  void writeAtomically(DatabaseName database, List<Edit> edits, long bytes, Completion completion);
}
