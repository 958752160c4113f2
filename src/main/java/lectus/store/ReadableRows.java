package lectus.store;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.StreamingMode;
import com.apple.foundationdb.tuple.ByteArrayUtil;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.Supplier;
import lectus.json.MalformedTupleException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads rows on which all databases depend. One that cannot be decoded is passed over, so that it
 * stops nobody; the log says so, and {@code lectus check} finds it.
 */
public final class ReadableRows {
  private static final Logger LOG = LoggerFactory.getLogger(ReadableRows.class);
  private static final long MINUTE_NANOS = Duration.ofMinutes(1).toNanos();
  private static final AtomicLong SAID_AT = new AtomicLong(System.nanoTime() - MINUTE_NANOS);

  private ReadableRows() {}

  /**
   * @param limit of readable rows; 0 for all
   * @return fewer than {@code limit} only if there are no more
   */
  public static <T> CompletableFuture<List<T>> read(
      ReadTransaction tx, Range range, int limit, boolean reverse, Function<KeyValue, T> decoder) {
    return tx.getRange(range.begin, range.end, limit, reverse, StreamingMode.WANT_ALL)
        .asList()
        .thenCompose(
            rows -> {
              List<T> found = new ArrayList<>(rows.size());
              rows.forEach(row -> decoded(row, decoder).ifPresent(found::add));
              if (found.size() == rows.size() || limit == 0 || rows.size() < limit) {
                return CompletableFuture.completedFuture(found);
              }
              byte[] last = rows.get(rows.size() - 1).getKey();
              Range rest =
                  reverse
                      ? new Range(range.begin, last)
                      : new Range(Arrays.copyOf(last, last.length + 1), range.end);
              return read(tx, rest, limit - found.size(), reverse, decoder)
                  .thenApply(
                      more -> {
                        found.addAll(more);
                        return found;
                      });
            });
  }

  private static <T> Optional<T> decoded(KeyValue row, Function<KeyValue, T> decoder) {
    return unlessDamaged(
        () -> "The row " + ByteArrayUtil.printable(row.getKey()), () -> decoder.apply(row));
  }

  /**
   * Reads some rows, or decodes them; empty if one cannot be decoded.
   *
   * @param rows how the log names them
   */
  public static <T> Optional<T> unlessDamaged(Supplier<String> rows, Supplier<T> reading) {
    try {
      return Optional.of(reading.get());
    } catch (MalformedTupleException | IllegalArgumentException damaged) {
      say(rows, damaged);
      return Optional.empty();
    }
  }

  /** Servers look again every few seconds, so one row is named in a minute. */
  private static void say(Supplier<String> rows, RuntimeException damaged) {
    long now = System.nanoTime();
    long before = SAID_AT.get();
    if (now - before >= MINUTE_NANOS && SAID_AT.compareAndSet(before, now)) {
      LOG.error("{} cannot be read and is passed over: run lectus check", rows.get(), damaged);
    }
  }
}
