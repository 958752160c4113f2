package lectus.store.embedded.engine;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import lectus.error.StoreOpenException;

/** Where a data folder keeps its {@link LogRecord}. */
final class LogRecordFile {
  private static final String NAME = "lectus.logs";
  private static final int MAX_BYTES = 1 << 20;

  private final Path folder;
  private final Path file;

  LogRecordFile(Path folder) {
    this.folder = folder;
    this.file = folder.resolve(NAME);
  }

  /**
   * What was recorded last; nothing in a store from before such records.
   *
   * @throws StoreOpenException if there is something else in its place
   */
  LogRecord read() throws IOException {
    if (!Files.exists(file)) {
      return LogRecord.NONE;
    }
    LogRecord record = LogRecord.decode(DurableFile.readShort(file, MAX_BYTES));
    if (record == null) {
      throw StoreOpenException.damage(
          "The data directory "
              + folder
              + " is damaged: "
              + NAME
              + " is not readable; once it is deleted the store opens, but whether its logs are"
              + " complete is not known then.");
    }
    return record;
  }

  /** Replaces what was recorded; until this is done the former record counts. */
  void write(LogRecord record) throws IOException {
    DurableFile.replace(file, record.encode());
    DurableFile.syncDirectory(folder);
  }

  void delete() throws IOException {
    Files.deleteIfExists(file);
  }

  @Override
  public String toString() {
    return file.toString();
  }
}
