package lectus.updates;

import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import java.util.stream.Stream;
import lectus.database.DatabaseUpdate;
import lectus.database.UpdatesSubspace;
import lectus.store.Reads;
import lectus.store.Store;
import lectus.store.Versionstamp;

/**
 * Reads the updates log of a store in the order of commits, whatever bucket a row lies in.
 *
 * <p>Compaction removes {@code updated} rows that a later one of the same instance follows, so what
 * a reader finds behind a point is, of each database that moved since, at least the last move.
 */
public final class UpdatesLog {
  private static final Comparator<DatabaseUpdate> OLDEST_FIRST =
      Comparator.comparing(DatabaseUpdate::at);

  private final UpdatesSubspace rows;

  public UpdatesLog(Store store) {
    this.rows = new UpdatesSubspace(store.rootPrefix());
  }

  /**
   * Rows in their order, as many as one read brings.
   *
   * @param next where to go on: the point to hand in next; empty if no row follows
   */
  public record Chunk(List<DatabaseUpdate> rows, Optional<Versionstamp> next) {}

  /**
   * Reads on, oldest first.
   *
   * @param from the first point to look at
   * @param perBucket rows read at most of each bucket, all at once
   */
  public Chunk read(ReadTransaction tx, Versionstamp from, int perBucket) {
    List<List<DatabaseUpdate>> buckets = buckets(tx, from, Versionstamp.END, perBucket, false);
    Optional<Versionstamp> last = ends(buckets, perBucket).min(Comparator.naturalOrder());
    List<DatabaseUpdate> rows =
        merged(buckets, OLDEST_FIRST, at -> last.isEmpty() || at.compareTo(last.get()) <= 0);
    return new Chunk(rows, last.map(Versionstamp::successor));
  }

  /**
   * Reads back, newest first.
   *
   * @param until the first point not to look at: rows before it are read
   * @param perBucket rows read at most of each bucket, all at once
   */
  public Chunk readBack(ReadTransaction tx, Versionstamp until, int perBucket) {
    List<List<DatabaseUpdate>> buckets = buckets(tx, Versionstamp.ZERO, until, perBucket, true);
    Optional<Versionstamp> last = ends(buckets, perBucket).max(Comparator.naturalOrder());
    List<DatabaseUpdate> rows =
        merged(
            buckets,
            OLDEST_FIRST.reversed(),
            at -> last.isEmpty() || at.compareTo(last.get()) >= 0);
    return new Chunk(rows, last);
  }

  /** When the newest row was written; empty if there is none. */
  public Optional<Versionstamp> newest(ReadTransaction tx) {
    return buckets(tx, Versionstamp.ZERO, Versionstamp.END, 1, true).stream()
        .flatMap(List::stream)
        .map(DatabaseUpdate::at)
        .max(Comparator.naturalOrder());
  }

  private List<List<DatabaseUpdate>> buckets(
      ReadTransaction tx, Versionstamp from, Versionstamp until, int limit, boolean reverse) {
    List<CompletableFuture<List<DatabaseUpdate>>> reading = new ArrayList<>();
    for (int bucket = 0; bucket < UpdatesSubspace.BUCKETS; bucket++) {
      reading.add(rows.read(tx, bucket, from, until, limit, reverse));
    }
    return reading.stream().map(Reads::await).toList();
  }

  /** How far each bucket was read that may have more: only up to there the rows are complete. */
  private static Stream<Versionstamp> ends(List<List<DatabaseUpdate>> buckets, int limit) {
    return buckets.stream()
        .filter(bucket -> bucket.size() == limit)
        .map(bucket -> bucket.get(limit - 1).at());
  }

  private static List<DatabaseUpdate> merged(
      List<List<DatabaseUpdate>> buckets,
      Comparator<DatabaseUpdate> order,
      Predicate<Versionstamp> isComplete) {
    return buckets.stream()
        .flatMap(List::stream)
        .filter(row -> isComplete.test(row.at()))
        .sorted(order)
        .toList();
  }
}
