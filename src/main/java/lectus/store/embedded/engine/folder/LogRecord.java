package lectus.store.embedded.engine.folder;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lectus.error.StoreOpenException;

/**
 * The lengths of the logs known to be on disk at some time. It is kept beside RocksDB's files
 * because a missing log cannot tell what it held. It may be behind, never ahead.
 *
 * <pre>
 * lectus synced logs
 * ceiling 160000000    no version at or above it had been given out
 * log 12 48231         000012.log was that long, in bytes; a line for each log
 * </pre>
 *
 * <p>Without its log lines it vouches for no log; versions still continue above its ceiling. So an
 * administrator who accepts a loss can open the rest by deleting those lines.
 *
 * @param ceiling the version ceiling that was durable in the store
 * @param lengths the synced length of each log, in bytes, by its number
 */
public record LogRecord(long ceiling, SortedMap<Long, Long> lengths) {
  /** The record of a store older than such records: it vouches for nothing. */
  static final LogRecord NONE = new LogRecord(0, Collections.emptySortedMap());

  private static final String HEADER = "lectus synced logs\n";
  private static final Pattern BEGIN = Pattern.compile(HEADER + "ceiling (\\d{1,18})\n");
  private static final Pattern LOG = Pattern.compile("log (\\d{1,18}) (\\d{1,18})\n");

  public LogRecord {
    lengths = Collections.unmodifiableSortedMap(new TreeMap<>(lengths));
  }

  /**
   * Decodes what {@link #encode} wrote. Returns null for anything else. It goes line by line: a
   * pattern that repeats a group takes stack for each repetition.
   */
  public static LogRecord decode(String content) {
    Matcher begin = BEGIN.matcher(content);
    if (!begin.lookingAt()) {
      return null;
    }
    SortedMap<Long, Long> lengths = new TreeMap<>();
    int position = begin.end();
    Matcher log = LOG.matcher(content);
    while (log.region(position, content.length()).lookingAt()) {
      lengths.put(Long.parseLong(log.group(1)), Long.parseLong(log.group(2)));
      position = log.end();
    }
    return position == content.length()
        ? new LogRecord(Long.parseLong(begin.group(1)), lengths)
        : null;
  }

  public String encode() {
    StringBuilder content = new StringBuilder(HEADER).append("ceiling ").append(ceiling);
    content.append('\n');
    for (Map.Entry<Long, Long> log : lengths.entrySet()) {
      content.append("log ").append(log.getKey()).append(' ').append(log.getValue()).append('\n');
    }
    return content.toString();
  }

  /** The file of a data folder that holds its {@link LogRecord}. */
  public static final class LogRecordFile {
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
}
