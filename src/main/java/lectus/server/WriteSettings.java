package lectus.server;

/**
 * How edits wait and how many of them go into one transaction.
 *
 * @param executors threads that run writing transactions, 1 or more
 * @param queueEdits edits that may wait for one executor
 * @param queueBytes what these may hold in memory, in bytes
 * @param batchEdits edits that one transaction takes at most
 * @param batchBytes what these may hold in memory, in bytes
 */
public record WriteSettings(
    int executors, int queueEdits, long queueBytes, int batchEdits, long batchBytes) {
  public WriteSettings {
    if (executors < 1 || queueEdits < 1 || batchEdits < 1 || queueBytes < 1 || batchBytes < 1) {
      throw new IllegalArgumentException("Every bound of the write path is at least 1");
    }
  }
}
