package lectus.store.embedded.engine.folder;

import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

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
  private static final Pattern CONTENT =
      Pattern.compile(HEADER + "ceiling (\\d{1,18})\n((?:log \\d{1,18} \\d{1,18}\n)*)");
  private static final Pattern LOG = Pattern.compile("log (\\d+) (\\d+)\n");

  public LogRecord {
    lengths = Collections.unmodifiableSortedMap(new TreeMap<>(lengths));
  }

  /** Decodes what {@link #encode} wrote. Returns null for anything else. */
  public static LogRecord decode(String content) {
    Matcher whole = CONTENT.matcher(content);
    if (!whole.matches()) {
      return null;
    }
    SortedMap<Long, Long> lengths = new TreeMap<>();
    Matcher logs = LOG.matcher(whole.group(2));
    while (logs.find()) {
      lengths.put(Long.parseLong(logs.group(1)), Long.parseLong(logs.group(2)));
    }
    return new LogRecord(Long.parseLong(whole.group(1)), lengths);
  }

  public String encode() {
    StringBuilder content = new StringBuilder(HEADER).append("ceiling ").append(ceiling);
    content.append('\n');
    for (Map.Entry<Long, Long> log : lengths.entrySet()) {
      content.append("log ").append(log.getKey()).append(' ').append(log.getValue()).append('\n');
    }
    return content.toString();
  }
}
