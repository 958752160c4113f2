package lectus.store;

/**
 * What a transaction gave once it was stored.
 *
 * @param versionstamp its 10 bytes (commit version and batch order, big-endian), which fill the
 *     placeholders of its versionstamped operations; null if the transaction wrote nothing
 */
public record Committed<T>(T value, byte[] versionstamp) {}
