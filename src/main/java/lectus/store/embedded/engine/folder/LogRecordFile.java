package lectus.store.embedded.engine.folder;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import lectus.error.StoreOpenException;

/** The file of a data folder that holds its {@link LogRecord}. */
public final class LogRecordFile {
  private static final String NAME = "lectus.logs";
  private static final int MAX_BYTES = 1 << 20;

  private final Path folder;
  private final Path file;

  public LogRecordFile(Path folder) {
    this.folder = folder;
    this.file = folder.resolve(NAME);
  }

  /**
   * Returns the last record, or an empty one if there is none.
   *
   * @throws StoreOpenException if the file holds something else
   */
  public LogRecord read() throws IOException {
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
              + " is not readable; once it is deleted the store opens, but it is then unknown"
              + " whether its logs are complete.");
    }
    return record;
  }

  /** Replaces the record atomically. */
  public void write(LogRecord record) throws IOException {
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
