package lectus.store.embedded.engine.folder;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * Recently logged lines. A line that differs from one of them only in its numbers is not logged
 * again: RocksDB repeats itself for every file and every attempt.
 */
public final class RecentLines {
  private static final int MAX_LINES = 64;
  private static final long FORGOTTEN_AFTER_NANOS = Duration.ofMinutes(10).toNanos();

  private final LongSupplier nanoTime;
  private final Map<String, Long> lines =
      new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Long> eldest) {
          return size() > MAX_LINES;
        }
      };

  public RecentLines(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  public synchronized boolean isNew(String line) {
    String text = line.replaceAll("\\d+", "#");
    long now = nanoTime.getAsLong();
    Long before = lines.get(text);
    if (before != null && now - before < FORGOTTEN_AFTER_NANOS) {
      return false;
    }
    lines.put(text, now);
    return true;
  }
}
