package lectus.store.embedded.engine.folder;

import java.nio.file.Path;

/**
 * The part of the newest write-ahead log known to be on disk.
 *
 * @param file the log file
 * @param length its synced length in bytes; a power loss may lose what follows
 */
public record SyncedLog(Path file, long length) {}
