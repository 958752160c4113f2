package lectus.store;

/**
 * The value of a committed transaction.
 *
 * @param versionstamp the transaction's 10 bytes (commit version and batch order, big-endian),
 *     which fill the placeholders of its versionstamped operations; null if the transaction wrote
 *     nothing
 */
public record CommitResult<T>(T value, byte[] versionstamp) {}
