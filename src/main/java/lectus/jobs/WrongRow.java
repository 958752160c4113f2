package lectus.jobs;

/**
 * A row that is not as its document makes it, or is missing.
 *
 * @param problem a sentence without a full stop
 */
public record WrongRow(String docId, byte[] key, String problem) {}
