package lectus.store.embedded.engine;

import java.nio.file.Path;

/**
 * How much of the newest write-ahead log is known to be on disk.
 *
 * @param file the log file
 * @param length its synced length in bytes; what lies behind may be lost with the power
 */
public record SyncedLog(Path file, long length) {}
