package lectus.server.writing;

/**
 * How edits wait and how many of them go into one transaction.
 *
 * @param executors threads that run writing transactions, 1 or more
 * @param queueEdits most edits that may wait for one executor
 * @param queueBytes most memory of these, in bytes
 * @param batchEdits most edits of one transaction
 * @param batchBytes most memory of these, in bytes
 */
public record WriteSettings(
    int executors, int queueEdits, long queueBytes, int batchEdits, long batchBytes) {
  public WriteSettings {
    if (executors < 1 || queueEdits < 1 || batchEdits < 1 || queueBytes < 1 || batchBytes < 1) {
      throw new IllegalArgumentException("Every bound of the write path is at least 1");
    }
  }
}
