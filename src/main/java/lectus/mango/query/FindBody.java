package lectus.mango.query;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.StreamingMode;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import java.util.function.Predicate;
import lectus.attachment.Digests;
import lectus.database.DatabaseHandle;
import lectus.database.Sequence;
import lectus.derived.StoredIndex;
import lectus.document.DatabaseReads;
import lectus.document.PagedBody;
import lectus.error.LectusException;
import lectus.json.JsonBuffer;
import lectus.mango.query.FindCursor.Bookmark;
import lectus.mango.query.FindCursor.FindTail;
import lectus.mango.query.FindPage.FindRow;
import lectus.mango.query.Planner.QueryPlan;
import lectus.store.Awaiting;
import lectus.store.Versionstamp;

/**
 * The answer to a query, read at one version of the store for as long as the store keeps it, some
 * five seconds. Each part is read in a transaction of bounded length, also if nothing matches for
 * long.
 *
 * <p>An answer that takes longer goes on at a later version. Writers may have moved documents in
 * the index meanwhile, so documents that are done are not shown again. Those that a writer may have
 * moved behind the reader are in the changes since the first version, and come at the end.
 */
final class FindBody implements PagedBody {
  /** Documents that one part looks at. */
  private static final int MAX_ROWS = 2_000;

  private static final int MAX_ROWS_AT_ONCE = 250;

  /** Ranges whose first rows are read together: most alternatives have few. */
  private static final int FIRST_RANGES = 16;

  private static final int MAX_RANGES = 64;

  /** Ranges that are not due yet are asked for so many times fewer rows. */
  private static final int FEWER_AHEAD = 8;

  /** So many ranges may cost less to read together with what lies between them. */
  private static final int MANY_RANGES = 64;

  /** Rows that are read to learn whether that is so. */
  private static final int TRIED_ROWS = 64;

  /** Ranges that are read by themselves after it was not. */
  private static final int RANGES_BETWEEN_TRIALS = 512;

  /** Rows between ranges that cost as much as to ask for one more range. */
  private static final int ROWS_OF_RANGE = 4;

  /** Without an index design documents, which are not shown, come before most others. */
  private static final int FEW_DESIGNS = 10;

  /** Others wait for the thread meanwhile, also while the store answers. */
  private static final long MAX_NANOS = 250_000_000;

  private static final double NANOS_PER_MILLI = 1_000_000;

  /** Of a range beside its keys. */
  private static final int RANGE_BYTES = 64;

  /** Size at which a part ends, in bytes. */
  private static final int PART_BYTES = 192 * 1024;

  private final DatabaseReads reads;
  private final FindRequest request;
  private final QueryMetrics figures;
  private final long startedNanos = System.nanoTime();
  private final DocumentSet done = new DocumentSet();
  private Optional<QueryPlan> plan = Optional.empty();

  /** Those of the plan, in the order of the answer: a selector may have thousands. */
  private List<Range> ranges = List.of();

  /** From where on it is tried, or done, to read ranges together with what lies between them. */
  private int togetherFrom = FIRST_RANGES;

  private boolean areDense;
  private FindCursor cursor;
  private OptionalLong firstVersion = OptionalLong.empty();
  private OptionalLong version = OptionalLong.empty();
  private Optional<Sequence> changes = Optional.empty();

  FindBody(DatabaseReads reads, FindRequest request, QueryMetrics figures) {
    this.figures = figures;
    this.reads = reads;
    this.request = request;
    this.cursor = FindCursor.begin(request);
  }

  /**
   * What one transaction found.
   *
   * @param changes up to where changed documents were looked at, once the ranges are read
   * @param done the documents that were shown or skipped
   * @param tail of the answer, if it is complete and the query could find anything
   */
  private record Part(
      QueryPlan plan,
      List<Range> ranges,
      long version,
      FindCursor cursor,
      Optional<Sequence> changes,
      List<String> done,
      boolean isLast,
      Optional<FindTail> tail) {}

  @Override
  public boolean appendNext(JsonBuffer out) {
    int start = out.length();
    Part part =
        reads.readAt(
            version,
            (tx, db) -> {
              out.truncate(start);
              if (plan.isEmpty()) {
                out.ascii("{\"docs\":[");
              }
              return append(tx, db, out);
            });
    plan = Optional.of(part.plan());
    ranges = part.ranges();
    figures.examined(request, cursor, part.cursor());
    part.tail().ifPresent(tail -> figures.answered(tail, elapsedNanos()));
    cursor = part.cursor();
    changes = part.changes();
    version = OptionalLong.of(part.version());
    firstVersion = firstVersion.isEmpty() ? version : firstVersion;
    if (!part.isLast() && movesDocuments(part.plan())) {
      part.done().forEach(done::add);
    }
    return !part.isLast();
  }

  @Override
  public long keptBytes() {
    return done.bytes()
        + ranges.stream().mapToLong(it -> it.begin.length + it.end.length + RANGE_BYTES).sum();
  }

  /** A document keeps its place in the list of all documents as long as it lives. */
  private static boolean movesDocuments(QueryPlan plan) {
    return plan.chosen().isPresent() && plan.chosen().orElseThrow().index().isPresent();
  }

  private Part append(ReadTransaction tx, DatabaseHandle db, JsonBuffer out) {
    Queries.checkPartition(db, request);
    QueryPlan now = plan.map(it -> checked(db, it)).orElseGet(() -> Planner.toFind(db, request));
    long readVersion = Awaiting.await(tx.getReadVersion());
    if (now.isEmpty()) {
      out.ascii("\r\n]}\r\n");
      return new Part(
          now, List.of(), readVersion, cursor, changes, List.of(), true, Optional.empty());
    }
    List<Range> all = plan.isPresent() ? ranges : ranges(db, now);
    boolean mayHaveMoved =
        movesDocuments(now) && firstVersion.isPresent() && firstVersion.getAsLong() != readVersion;
    Predicate<String> isDone = mayHaveMoved ? done::has : id -> false;
    int enough = out.length() + PART_BYTES;
    FindPage page = new FindPage(tx, db, request, now.chosen().orElseThrow(), out, enough, isDone);
    FindCursor at = afterBookmark(db, now.chosen().orElseThrow().index(), all);
    Optional<Sequence> changed = changes;
    boolean isLast;
    if (at.range() < all.size() && !at.hasAll()) {
      at = appendRanges(tx, db, now, all, at, page);
      isLast = at.hasAll() || (at.range() == all.size() && !mayHaveMoved);
    } else if (mayHaveMoved && !at.hasAll()) {
      MovedDocuments.Step step =
          appendMoved(
              new MovedDocuments(tx, db, now.chosen().orElseThrow().index().get(), all),
              new MovedDocuments.Step(
                  at, changes.orElseGet(() -> upTo(db, firstVersion.getAsLong())), false),
              page);
      at = step.cursor();
      changed = Optional.of(step.changes());
      isLast = at.hasAll() || step.isLast();
    } else {
      isLast = true;
    }
    Optional<FindTail> tail =
        isLast ? Optional.of(new FindTail(db, request, now, at)) : Optional.empty();
    tail.ifPresent(it -> it.append(elapsedNanos() / NANOS_PER_MILLI, out));
    return new Part(now, all, readVersion, at, changed, page.done(), isLast, tail);
  }

  private List<Range> ranges(DatabaseHandle db, QueryPlan now) {
    List<Range> all = new ReadRanges(db, request, now.chosen().orElseThrow()).all();
    if (request.sort().descending()) {
      Collections.reverse(all);
    }
    return all;
  }

  private static Sequence upTo(DatabaseHandle db, long version) {
    return new Sequence(db.incarnation(), Versionstamp.upTo(version).bytes());
  }

  private FindCursor appendRanges(
      ReadTransaction tx,
      DatabaseHandle db,
      QueryPlan now,
      List<Range> ranges,
      FindCursor from,
      FindPage page) {
    RangeReads reading = new RangeReads(tx, db, now.chosen().orElseThrow().index(), ranges);
    FindCursor at = from;
    int left = MAX_ROWS;
    long end = System.nanoTime() + MAX_NANOS;
    do {
      int count = (int) Math.min(Math.min(left, MAX_ROWS_AT_ONCE), wanted(now, at, left));
      Rows read = reading.next(at, count);
      List<FindRow> rows = read.rows();
      at = page.append(rows, at);
      left -= Math.max(1, read.read());
      boolean areSeen = rows.isEmpty() || rows.get(rows.size() - 1).key() == at.last().orElse(null);
      if (areSeen && read.nextRange() > at.range()) {
        at = at.inRange(read.nextRange());
      }
    } while (at.range() < ranges.size()
        && !at.hasAll()
        && left > 0
        && !page.isSpent()
        && System.nanoTime() - end <= 0);
    return at;
  }

  private static MovedDocuments.Step appendMoved(
      MovedDocuments moved, MovedDocuments.Step from, FindPage page) {
    MovedDocuments.Step at = from;
    long end = System.nanoTime() + MAX_NANOS;
    int looked = 0;
    do {
      at = moved.append(page, at.cursor(), at.changes());
      looked += MovedDocuments.MAX_ENTRIES;
    } while (!at.isLast()
        && !at.cursor().hasAll()
        && looked < MAX_ROWS
        && !page.isSpent()
        && System.nanoTime() - end <= 0);
    return at;
  }

  /** At first no more than are asked for: usually all of them match. */
  private static long wanted(QueryPlan now, FindCursor at, int left) {
    int hidden = now.chosen().orElseThrow().index().isPresent() ? 0 : FEW_DESIGNS;
    return left == MAX_ROWS && at.keys() == 0 && at.limit() < MAX_ROWS_AT_ONCE
        ? Math.min(at.limit() + at.skip() + hidden, MAX_ROWS_AT_ONCE)
        : MAX_ROWS_AT_ONCE;
  }

  /** What was planned must still be there: the rest of an index that is gone is no answer. */
  private static QueryPlan checked(DatabaseHandle db, QueryPlan plan) {
    boolean isThere =
        plan.chosen()
            .orElseThrow()
            .index()
            .map(index -> db.indexes().current(index).isPresent())
            .orElse(true);
    if (!isThere) {
      throw LectusException.unavailable("The index was removed while it was read.");
    }
    return plan;
  }

  private FindCursor afterBookmark(
      DatabaseHandle db, Optional<StoredIndex> index, List<Range> ranges) {
    if (request.bookmark().isEmpty() || cursor.keys() > 0 || cursor.range() > 0) {
      return cursor;
    }
    byte[] key = Bookmark.key(db, index, request.bookmark().get());
    FindCursor at = cursor;
    boolean descending = request.sort().descending();
    while (at.range() < ranges.size()
        && Bookmark.isBehind(
            key,
            descending ? ranges.get(at.range()).begin : ranges.get(at.range()).end,
            descending)) {
      at = at.inRange(at.range() + 1);
    }
    return at.range() == ranges.size() ? at : at.from(key);
  }

  private CompletableFuture<List<KeyValue>> read(
      ReadTransaction tx, Range range, Optional<byte[]> last, int count) {
    boolean descending = request.sort().descending();
    byte[] begin = range.begin;
    byte[] end = range.end;
    if (last.isPresent()) {
      byte[] key = last.get();
      if (descending && Arrays.compareUnsigned(key, end) < 0) {
        end = key;
      } else if (!descending && Arrays.compareUnsigned(key, begin) >= 0) {
        begin = Arrays.copyOf(key, key.length + 1);
      }
    }
    return Arrays.compareUnsigned(begin, end) >= 0
        ? CompletableFuture.completedFuture(List.of())
        : tx.getRange(begin, end, count, descending, StreamingMode.WANT_ALL).asList();
  }

  private long elapsedNanos() {
    return System.nanoTime() - startedNanos;
  }

  /**
   * @param nextRange the first range that may have more
   * @param read number of rows that were read for these
   */
  private record Rows(List<FindRow> rows, int nextRange, int read) {}

  /**
   * The reads of one transaction. Ranges behind the one that is due are read together with it, some
   * rows of each, and kept until they are due themselves. The rest of a range with more rows is
   * read alone. Where many ranges have few rows between them, all is read and those are left out.
   */
  private final class RangeReads {
    private final ReadTransaction tx;
    private final BiFunction<Integer, KeyValue, FindRow> decoder;
    private final List<Range> ranges;
    private final Map<Integer, Started> started = new HashMap<>();

    RangeReads(
        ReadTransaction tx, DatabaseHandle db, Optional<StoredIndex> index, List<Range> ranges) {
      this.tx = tx;
      this.decoder = FindRow.decoder(db, index);
      this.ranges = ranges;
    }

    private record Started(int most, CompletableFuture<List<KeyValue>> rows) {}

    /** Returns the next rows of one range or of several. */
    Rows next(FindCursor at, int count) {
      boolean areMany = ranges.size() - at.range() >= MANY_RANGES;
      if (areMany && at.range() >= togetherFrom && started.isEmpty()) {
        return across(at, areDense ? count : Math.min(count, TRIED_ROWS));
      }
      int end = start(at, count);
      List<FindRow> decoded = new ArrayList<>();
      int next = at.range();
      while (next < end && decoded.size() < count) {
        int number = next;
        Started read = started.remove(number);
        List<KeyValue> rows = Awaiting.await(read.rows());
        rows.forEach(row -> decoded.add(decoder.apply(number, row)));
        if (rows.size() == read.most()) {
          break;
        }
        next++;
      }
      return new Rows(decoded, next, decoded.size());
    }

    /** Returns the next rows in ranges, and finds out whether there were many others. */
    private Rows across(FindCursor at, int count) {
      Range first = ranges.get(at.range());
      Range last = ranges.get(ranges.size() - 1);
      boolean descending = request.sort().descending();
      Range all = descending ? new Range(last.begin, first.end) : new Range(first.begin, last.end);
      List<KeyValue> rows = Awaiting.await(read(tx, all, at.last(), count));
      List<FindRow> decoded = new ArrayList<>();
      int number = at.range();
      for (KeyValue row : rows) {
        while (isBehind(row.getKey(), ranges.get(number), descending)) {
          number++;
        }
        if (!isBehind(row.getKey(), ranges.get(number), !descending)) {
          decoded.add(decoder.apply(number, row));
        }
      }
      int next = rows.size() < count ? ranges.size() : number;
      areDense = rows.size() - decoded.size() <= ROWS_OF_RANGE * (next - at.range());
      togetherFrom = areDense ? next : next + RANGES_BETWEEN_TRIALS;
      return new Rows(decoded, next, rows.size());
    }

    private static boolean isBehind(byte[] key, Range range, boolean descending) {
      return descending
          ? Arrays.compareUnsigned(key, range.begin) < 0
          : Arrays.compareUnsigned(key, range.end) >= 0;
    }

    /** Returns the first range that is not read yet. */
    private int start(FindCursor at, int count) {
      int first = at.range();
      if (at.last().isPresent()) {
        started.put(first, start(first, at.last(), count));
        return first + 1;
      }
      int end = Math.min(ranges.size(), first + (first == 0 ? FIRST_RANGES : MAX_RANGES));
      for (int number = first; number < end; number++) {
        int most = number == first ? count : Math.max(1, count / FEWER_AHEAD);
        started.computeIfAbsent(number, it -> start(it, Optional.empty(), most));
      }
      return end;
    }

    private Started start(int number, Optional<byte[]> last, int most) {
      return new Started(most, read(tx, ranges.get(number), last, most));
    }
  }

  /**
   * Some documents, as eight bytes of each id's digest, in at most half of the slots. Of a million
   * documents two have the same bytes once in 40 million answers.
   */
  private static final class DocumentSet {
    private static final int FIRST_SLOTS = 64;

    private final MessageDigest digest = Digests.sha256();
    private long[] slots = new long[0];
    private int size;

    void add(String id) {
      if (2 * (size + 1) > slots.length) {
        long[] former = slots;
        slots = new long[Math.max(FIRST_SLOTS, 2 * former.length)];
        for (long each : former) {
          slots[slot(each)] = each;
        }
      }
      long key = key(id);
      int slot = slot(key);
      size += slots[slot] == 0 ? 1 : 0;
      slots[slot] = key;
    }

    boolean has(String id) {
      return size > 0 && slots[slot(key(id))] != 0;
    }

    long bytes() {
      return (long) Long.BYTES * slots.length;
    }

    /** Returns where the key is, or the empty slot where it would be. */
    private int slot(long key) {
      int slot = (int) key & (slots.length - 1);
      while (slots[slot] != 0 && slots[slot] != key) {
        slot = (slot + 1) & (slots.length - 1);
      }
      return slot;
    }

    /** Zero stands for an empty slot. */
    private long key(String id) {
      long key = ByteBuffer.wrap(digest.digest(id.getBytes(StandardCharsets.UTF_8))).getLong();
      return key == 0 ? 1 : key;
    }
  }
}
