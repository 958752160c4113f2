package lectus.document.query;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.StreamingMode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import lectus.database.DatabaseHandle;
import lectus.document.DatabaseReads;
import lectus.document.DocumentId;
import lectus.document.PagedBody;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.index.StoredIndex;
import lectus.json.JsonBuffer;
import lectus.store.Awaiting;

/**
 * The answer to a query. Each part is read in a transaction of bounded length, also if nothing
 * matches for long.
 */
final class FindBody implements PagedBody {
  /** Documents that one part looks at. */
  private static final int MOST_ROWS = 2_000;

  private static final int MOST_ROWS_AT_ONCE = 250;

  /** A selector may take long for each document; others wait for the thread meanwhile. */
  private static final long MOST_NANOS = 25_000_000;

  private static final double NANOS_PER_MILLI = 1_000_000;

  /** Size at which a part ends, in bytes. */
  private static final int PART_BYTES = 192 * 1024;

  private final DatabaseReads reads;
  private final FindRequest request;
  private final QueryFigures figures;
  private final long startedNanos = System.nanoTime();
  private Optional<QueryPlan> plan = Optional.empty();
  private FindCursor cursor;

  FindBody(DatabaseReads reads, FindRequest request, QueryFigures figures) {
    this.figures = figures;
    this.reads = reads;
    this.request = request;
    this.cursor = FindCursor.begin(request);
  }

  /**
   * What one transaction found.
   *
   * @param tail of the answer, if it is complete and the query could find anything
   */
  private record Part(QueryPlan plan, FindCursor cursor, boolean isLast, Optional<FindTail> tail) {}

  @Override
  public boolean appendNext(JsonBuffer out) {
    int start = out.length();
    Part part =
        reads.read(
            (tx, db) -> {
              out.truncate(start);
              if (plan.isEmpty()) {
                out.ascii("{\"docs\":[");
              }
              return append(tx, db, out);
            });
    plan = Optional.of(part.plan());
    figures.examined(request, cursor, part.cursor());
    part.tail().ifPresent(tail -> figures.answered(tail, elapsedNanos()));
    cursor = part.cursor();
    return !part.isLast();
  }

  private Part append(ReadTransaction tx, DatabaseHandle db, JsonBuffer out) {
    Queries.checkPartition(db, request);
    QueryPlan now = plan.map(it -> checked(db, it)).orElseGet(() -> Planner.toFind(db, request));
    if (now.isEmpty()) {
      out.ascii("\r\n]}\r\n");
      return new Part(now, cursor, true, Optional.empty());
    }
    Optional<StoredIndex> index = now.candidate().index();
    List<Range> ranges = new ReadRanges(db, request, now.candidate()).all();
    if (request.sort().descending()) {
      Collections.reverse(ranges);
    }
    FindPage page = new FindPage(tx, db, request, now.candidate(), out);
    FindCursor at = afterBookmark(db, index, ranges);
    int enough = out.length() + PART_BYTES;
    int left = MOST_ROWS;
    long end = System.nanoTime() + MOST_NANOS;
    while (at.range() < ranges.size()
        && at.limit() > 0
        && left > 0
        && out.length() < enough
        && System.nanoTime() - end <= 0) {
      int count = (int) Math.min(Math.min(left, MOST_ROWS_AT_ONCE), wanted(at, left));
      List<FindRow> rows = read(tx, db, index, ranges.get(at.range()), at, count);
      at = page.append(rows, at, enough, end);
      left -= Math.max(1, rows.size());
      boolean isRead = rows.isEmpty() || Arrays.equals(lastKey(rows), at.last().orElse(null));
      if (rows.size() < count && isRead) {
        at = at.inNextRange();
      }
    }
    boolean isLast = at.range() == ranges.size() || at.limit() == 0;
    Optional<FindTail> tail =
        isLast ? Optional.of(new FindTail(db, request, now, at)) : Optional.empty();
    tail.ifPresent(it -> it.append(elapsedNanos() / NANOS_PER_MILLI, out));
    return new Part(now, at, isLast, tail);
  }

  /** At first no more than are asked for: usually all of them match. */
  private static long wanted(FindCursor at, int left) {
    return left == MOST_ROWS && at.keys() == 0 && at.limit() < MOST_ROWS_AT_ONCE
        ? Math.min(at.limit() + at.skip(), MOST_ROWS_AT_ONCE)
        : MOST_ROWS_AT_ONCE;
  }

  private static byte[] lastKey(List<FindRow> rows) {
    return rows.get(rows.size() - 1).key();
  }

  /** What was planned must still be there: the rest of an index that is gone is no answer. */
  private static QueryPlan checked(DatabaseHandle db, QueryPlan plan) {
    boolean isThere =
        plan.candidate()
            .index()
            .map(
                index ->
                    db.indexes()
                        .numbered(index.number())
                        .filter(it -> it.definition().equals(index.definition()))
                        .isPresent())
            .orElse(true);
    if (!isThere) {
      throw new LectusException(
          new LectusError.Unavailable("The index was removed while it was read."));
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
      at = at.inNextRange();
    }
    return at.range() == ranges.size() ? at : at.from(key);
  }

  private List<FindRow> read(
      ReadTransaction tx,
      DatabaseHandle db,
      Optional<StoredIndex> index,
      Range range,
      FindCursor at,
      int count) {
    boolean descending = request.sort().descending();
    byte[] begin = range.begin;
    byte[] end = range.end;
    if (at.last().isPresent()) {
      byte[] last = at.last().get();
      if (descending && Arrays.compareUnsigned(last, end) < 0) {
        end = last;
      } else if (!descending && Arrays.compareUnsigned(last, begin) >= 0) {
        begin = Arrays.copyOf(last, last.length + 1);
      }
    }
    if (Arrays.compareUnsigned(begin, end) >= 0) {
      return List.of();
    }
    List<KeyValue> rows =
        Awaiting.await(tx.getRange(begin, end, count, descending, StreamingMode.WANT_ALL).asList());
    List<FindRow> decoded = new ArrayList<>(rows.size());
    rows.forEach(row -> decoded.add(FindRow.decode(db, index, row)));
    return decoded;
  }

  private long elapsedNanos() {
    return System.nanoTime() - startedNanos;
  }

  /** Whether a row is one of those that queries never show. */
  static boolean isHidden(FindRow row) {
    return DocumentId.isDesign(row.docId());
  }
}
