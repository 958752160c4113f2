package lectus.changes.log;

import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
import lectus.database.Catalogue;
import lectus.database.Catalogue.DatabaseInstance;
import lectus.database.DatabaseName;
import lectus.database.DatabaseUpdate;
import lectus.database.DatabaseUpdate.Kind;
import lectus.database.SecurityObject;
import lectus.database.UpdatesSubspace;
import lectus.store.Awaiting;
import lectus.store.ReadableRows;
import lectus.store.Store;
import lectus.store.Versionstamp;

/**
 * Reads the updates log of a store in commit order, across all buckets.
 *
 * <p>Compaction removes {@code updated} rows that are followed by a later one of the same instance;
 * of a life that has ended all rows but that of its end, and this with the next end of its name. So
 * after any point a reader finds at least the last change of each database that changed since.
 * Thread-safe.
 */
public final class UpdatesLog {
  private static final Comparator<DatabaseUpdate> OLDEST_FIRST =
      Comparator.comparing(DatabaseUpdate::at);

  /** Fewer rows are not worth keeping. */
  private static final int MIN_KEPT = 64;

  /** Bytes of a row in memory beside its name and its security object. */
  private static final int ROW_BYTES = 320;

  private final int leastKept;
  private final long mostKeptBytes;
  private final UpdatesSubspace rows;
  private final UpdatePointers pointers;

  /** What was read lately, by its first points, and these in the order in which they were read. */
  private final NavigableMap<Versionstamp, Read> lately = new TreeMap<>();

  private final Deque<Versionstamp> order = new ArrayDeque<>();
  private long keptBytes;

  /** Returns a log that keeps nothing of what it reads. */
  public UpdatesLog(Store store) {
    this(store, 0);
  }

  /**
   * @param mostKeptBytes memory for what {@link #readShared} reads
   */
  public UpdatesLog(Store store, long mostKeptBytes) {
    this(store, mostKeptBytes, MIN_KEPT);
  }

  UpdatesLog(Store store, long mostKeptBytes, int leastKept) {
    this.leastKept = leastKept;
    this.mostKeptBytes = mostKeptBytes;
    this.rows = new UpdatesSubspace(store.rootPrefix());
    this.pointers = new UpdatePointers(store.rootPrefix());
  }

  /**
   * Rows in order, as many as one read returns.
   *
   * @param next where to continue: the point for the next call; empty if no row follows
   */
  public record Chunk(List<DatabaseUpdate> rows, Optional<Versionstamp> next) {}

  /**
   * Reads forward, oldest first.
   *
   * @param from the first point to read
   * @param perBucket the most rows read of each bucket, all at once
   */
  public Chunk read(ReadTransaction tx, Versionstamp from, int perBucket) {
    List<List<DatabaseUpdate>> buckets = buckets(tx, from, Versionstamp.END, perBucket, false);
    Optional<Versionstamp> last = ends(buckets, perBucket).min(Comparator.naturalOrder());
    List<DatabaseUpdate> rows =
        merged(buckets, OLDEST_FIRST, at -> last.isEmpty() || at.compareTo(last.get()) <= 0);
    return new Chunk(rows, last.map(Versionstamp::successor));
  }

  /**
   * All rows between two points of the compacted part, as they were once.
   *
   * @param to exclusive
   */
  private record Read(List<DatabaseUpdate> rows, Versionstamp to, long bytes) {
    static Read of(List<DatabaseUpdate> rows, Versionstamp to) {
      return new Read(rows, to, rows.stream().mapToLong(Read::bytes).sum());
    }

    private static long bytes(DatabaseUpdate row) {
      return ROW_BYTES
          + 2L * row.name().text().length()
          + row.security().map(SecurityObject::heapBytes).orElse(0L);
    }

    Chunk from(Versionstamp first) {
      int begin = 0;
      while (begin < rows.size() && rows.get(begin).at().compareTo(first) < 0) {
        begin++;
      }
      return new Chunk(rows.subList(begin, rows.size()), Optional.of(to));
    }
  }

  /**
   * Like {@link #read}, for readers that come together and read the same part: one of them reads
   * it. Only the compacted part is shared. Since then compaction may have removed some of these
   * rows, or merged an earlier end into that of a later life ({@link #end} reads it anew). There
   * may be more rows than asked for.
   */
  public Chunk readShared(ReadTransaction tx, Versionstamp from, int perBucket) {
    Versionstamp end = Versionstamp.upTo(Awaiting.await(tx.getReadVersion())).successor();
    Optional<Chunk> known = known(from, end);
    if (known.isPresent()) {
      return known.get();
    }
    Chunk chunk = read(tx, from, perBucket);
    if (chunk.rows().size() < leastKept) {
      return chunk;
    }
    Versionstamp compacted = compactedTo(tx);
    Versionstamp to = chunk.next().filter(it -> it.compareTo(compacted) < 0).orElse(compacted);
    List<DatabaseUpdate> rows =
        chunk.rows().stream().takeWhile(it -> it.at().compareTo(to) < 0).toList();
    if (rows.size() >= leastKept) {
      keep(from, Read.of(rows, to));
    }
    return chunk;
  }

  /** What a transaction cannot see yet is of no use to it: it finds no changes of that. */
  private synchronized Optional<Chunk> known(Versionstamp from, Versionstamp end) {
    return Optional.ofNullable(lately.floorEntry(from))
        .map(Map.Entry::getValue)
        .filter(it -> it.to().compareTo(from) > 0 && it.to().compareTo(end) <= 0)
        .map(it -> it.from(from));
  }

  private synchronized void keep(Versionstamp from, Read read) {
    Read former = lately.put(from, read);
    if (former == null) {
      order.add(from);
    }
    keptBytes += read.bytes() - (former == null ? 0 : former.bytes());
    while (keptBytes > mostKeptBytes) {
      keptBytes -= lately.remove(order.remove()).bytes();
    }
  }

  /**
   * Returns the first point that is not compacted: rows before it can be looked up by name. ZERO if
   * that cannot be read.
   */
  public Versionstamp compactedTo(ReadTransaction tx) {
    return ReadableRows.unlessDamaged(
            () -> "How far the updates log is compacted", () -> pointers.progress(tx))
        .orElse(Versionstamp.ZERO);
  }

  /**
   * Looks up the rows before {@link #compactedTo}, each name's in order. Those of a life that has
   * ended since may be missing; its end follows. Empty if a pointer to one cannot be read: then
   * only {@link #read} finds them.
   */
  public Optional<List<DatabaseUpdate>> ofNames(
      ReadTransaction tx, Catalogue catalogue, List<DatabaseName> names) {
    List<CompletableFuture<List<DatabaseUpdate>>> reading = new ArrayList<>(names.size());
    names.forEach(name -> reading.add(ofName(tx, catalogue, name)));
    return ReadableRows.unlessDamaged(
        () -> "A pointer into the updates log",
        () -> reading.stream().flatMap(rows -> Awaiting.await(rows).stream()).toList());
  }

  private CompletableFuture<List<DatabaseUpdate>> ofName(
      ReadTransaction tx, Catalogue catalogue, DatabaseName name) {
    CompletableFuture<Optional<DatabaseUpdate>> end = pointers.deleted(tx, name);
    CompletableFuture<List<DatabaseUpdate>> ofLife =
        catalogue
            .life(tx, name)
            .thenCompose(
                life ->
                    life.isEmpty()
                        ? CompletableFuture.completedFuture(List.of())
                        : pointers
                            .updated(tx, life.get().instance())
                            .thenApply(updated -> rows(life.get(), updated)));
    return end.thenCombine(
        ofLife, (ended, rows) -> Stream.concat(ended.stream(), rows.stream()).toList());
  }

  private static List<DatabaseUpdate> rows(DatabaseInstance life, Optional<Versionstamp> updated) {
    Stream<DatabaseUpdate> created = Stream.of(row(life, Kind.CREATED, life.joined()));
    return Stream.concat(created, updated.map(at -> row(life, Kind.UPDATED, at)).stream()).toList();
  }

  private static DatabaseUpdate row(DatabaseInstance life, Kind kind, Versionstamp at) {
    return new DatabaseUpdate(at, kind, life.instance(), life.name(), life.joined());
  }

  /**
   * Reads backward, newest first.
   *
   * @param until the end, exclusive: rows before it are read
   * @param perBucket the most rows read of each bucket, all at once
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

  /**
   * Returns the row that tells of the end of a database at a point. If compaction has merged it,
   * that is the row of a later end of this name. Empty also if that cannot be read.
   */
  public Optional<DatabaseUpdate> end(ReadTransaction tx, DatabaseName name, Versionstamp point) {
    return buckets(tx, point, point.successor(), 1, false).stream()
        .flatMap(List::stream)
        .findFirst()
        .or(
            () ->
                ReadableRows.unlessDamaged(
                        () -> "The end of " + name.text(), () -> mergedEnd(tx, name))
                    .flatMap(Function.identity()));
  }

  private Optional<DatabaseUpdate> mergedEnd(ReadTransaction tx, DatabaseName name) {
    return Awaiting.await(pointers.deleted(tx, name))
        .flatMap(it -> Awaiting.await(rows.read(tx, it.instance(), it.at())));
  }

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
    return reading.stream().map(Awaiting::await).toList();
  }

  /**
   * Returns the last point read of each bucket that may have more: the rows are complete only up to
   * there.
   */
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
