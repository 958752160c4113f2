package lectus.view;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.StreamingMode;
import com.apple.foundationdb.async.AsyncIterator;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import lectus.database.DatabaseHandle;
import lectus.database.Sequence;
import lectus.document.DatabaseReads;
import lectus.document.PagedBody;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonArray;
import lectus.store.Awaiting;
import lectus.view.Reducer.ReducedRow;
import lectus.view.TreeReader.Piece;
import lectus.view.TreeReader.Pieces;
import lectus.view.TreeReader.Span;
import lectus.view.ViewDefinition.View;
import lectus.view.ViewRows.Emitted;
import lectus.view.Views.Opened;
import lectus.view.ViewsSubspace.State;

/**
 * The answer to one query of a view, up to its closing brace. All parts are read at one version for
 * as long as the store keeps it; then the answer goes on behind its last row at a later one.
 */
final class ViewAnswer implements PagedBody {
  private static final int PART_BYTES = 192 * 1024;
  private static final int PART_ROWS = 2_000;

  /** Spans whose rows one part counts, to skip them. */
  private static final int PART_SPANS = 500;

  /** Nodes of a level that one part opens. */
  private static final int MAX_OPEN = 128;

  private static final int MIN_OPEN = 8;

  /** Bytes of rows that are reduced for one part. */
  private static final long MAX_REDUCED_BYTES = 4_000_000;

  private final DatabaseReads reads;
  private final Opened opened;
  private final View view;
  private final ViewQuery query;
  private final Reducer reducer;
  private OptionalLong version = OptionalLong.empty();
  private Optional<Span> first = Optional.empty();
  private Progress progress = new Progress(List.of(), 0, 0);
  private boolean hasBegun;

  ViewAnswer(DatabaseReads reads, Opened opened, View view, ViewQuery query, Reducer reducer) {
    this.reads = reads;
    this.opened = opened;
    this.view = view;
    this.query = query;
    this.reducer = reducer;
  }

  /**
   * What is left of an answer. A query of many keys has as many spans, which are not copied.
   *
   * @param done how many spans are over
   * @param rest of the next one; empty: all of it
   */
  private record Progress(
      List<Span> spans, int done, Optional<Span> rest, long skip, long limit, boolean hasRows) {
    Progress(List<Span> spans, long skip, long limit) {
      this(spans, 0, Optional.empty(), skip, limit, false);
    }

    boolean isOver() {
      return done == spans.size() || limit == 0;
    }

    Span current() {
      return rest.orElseGet(() -> spans.get(done));
    }

    Progress on(Optional<Span> further, long taken) {
      Optional<Span> left = further.filter(it -> !it.isEmpty());
      int over = left.isPresent() ? done : done + 1;
      return new Progress(spans, over, left, skip, limit - taken, hasRows || taken > 0);
    }

    Progress skipped(long rows) {
      return new Progress(spans, done, rest, skip - rows, limit, hasRows);
    }
  }

  /** What one transaction read. */
  private record Part(long version, Progress progress, List<Group> groups) {}

  @Override
  public boolean appendNext(JsonBuffer out) {
    int start = out.length();
    if (!hasBegun) {
      List<Span> spans = query.spans(opened.rows(), view);
      first = spans.stream().findFirst();
      progress =
          new Progress(
              spans.stream().filter(it -> !it.isEmpty()).toList(), query.skip(), query.limit());
    }
    Part part =
        reads.readAt(
            version,
            (tx, db) -> {
              out.truncate(start);
              return read(tx, db, out);
            });
    version = OptionalLong.of(part.version());
    hasBegun = true;
    progress = query.reduces() ? written(part, out) : part.progress();
    if (progress.isOver()) {
      out.ascii("\r\n]}");
    }
    return !progress.isOver();
  }

  private Part read(ReadTransaction tx, DatabaseHandle db, JsonBuffer out) {
    ViewRows rows = new ViewRows(db, opened.index().number(), opened.definition().partitioned());
    ViewTree tree = new ViewTree(rows, view.number(), opened.index().salt(), reducer);
    TreeReader reader = new TreeReader(tx, rows, view.number(), tree);
    State state = state(tx, db);
    if (!hasBegun) {
      appendHead(reader, rows, state, out);
    }
    Progress from = hasBegun || state.isSettled() ? progress : new Progress(List.of(), 0, 0);
    long at = Awaiting.await(tx.getReadVersion());
    if (from.isOver()) {
      return new Part(at, from, List.of());
    }
    return query.reduces()
        ? groups(tx, reader, rows, from, at)
        : rows(tx, db, reader, rows, from, at, out);
  }

  /**
   * A view that is being built is empty to those who do not wait for it. At a later version than
   * the answer's first it may be built anew or removed: then it has no whole nodes, or no rows.
   */
  private State state(ReadTransaction tx, DatabaseHandle db) {
    State state =
        Awaiting.await(new ViewsSubspace(db).read(tx, opened.index().number()))
            .orElseThrow(() -> LectusException.notFound("missing_named_view"));
    boolean needsNodes =
        hasBegun
            ? query.reduces() || progress.skip() > 0
            : query.freshness() == ViewQuery.Freshness.NEWEST;
    if (!state.isSettled() && needsNodes) {
      throw new LectusException(new LectusError.Unavailable("The view is being built anew.", 1));
    }
    return state;
  }

  private void appendHead(TreeReader reader, ViewRows rows, State state, JsonBuffer out) {
    out.octet('{');
    if (!query.reduces()) {
      Span whole = query.whole(rows);
      long total = state.isSettled() ? reader.count(whole) : 0;
      out.ascii("\"total_rows\":").number(total);
      long offset = state.isSettled() ? offset(reader, whole) : 0;
      out.ascii(",\"offset\":").number(Math.min(total, offset));
      out.octet(',');
    }
    if (query.updateSeq()) {
      out.ascii("\"update_seq\":");
      out.string(state.upTo().map(Sequence::toString).orElse("0")).octet(',');
    }
    out.ascii("\"rows\":[");
  }

  private long offset(TreeReader reader, Span whole) {
    long before = 0;
    if (first.isPresent()) {
      before =
          query.descending()
              ? first.get().to().map(it -> reader.count(new Span(it, whole.to()))).orElse(0L)
              : reader.count(new Span(whole.from(), Optional.of(first.get().from())));
    }
    return query.skip() > Long.MAX_VALUE - before ? Long.MAX_VALUE : before + query.skip();
  }

  private Part rows(
      ReadTransaction tx,
      DatabaseHandle db,
      TreeReader reader,
      ViewRows rows,
      Progress begin,
      long at,
      JsonBuffer out) {
    Progress left = skip(reader, begin);
    if (left.skip() > 0) {
      return new Part(at, left, List.of());
    }
    int enough = out.length() + PART_BYTES;
    int read = 0;
    ShownDocuments documents = new ShownDocuments(tx, db, query);
    while (!left.isOver() && out.length() < enough && read < PART_ROWS) {
      Span span = left.current();
      int most =
          (int) Math.min(left.limit(), query.includeDocs() ? documents.ahead.size() : PART_ROWS);
      List<KeyValue> some = some(tx, rows, span, most, enough - out.length());
      appendRows(rows, some, documents, left.hasRows(), out);
      read += Math.max(1, some.size());
      Optional<Span> rest =
          some.isEmpty()
              ? Optional.empty()
              : Optional.of(
                  behind(span, rows.placeOf(view.number(), 0, some.get(some.size() - 1))));
      left = left.on(rest, some.size());
    }
    return new Part(at, left, List.of());
  }

  /** Passes over what is to be skipped, whole spans first: as many as one part counts. */
  private Progress skip(TreeReader reader, Progress begin) {
    Progress left = begin;
    for (int i = 0; i < PART_SPANS && left.skip() > 0 && !left.isOver(); i++) {
      Span span = left.current();
      long count = reader.count(span);
      if (count <= left.skip()) {
        left = left.skipped(count).on(Optional.empty(), 0);
      } else {
        long before = query.descending() ? count - 1 - left.skip() : left.skip();
        byte[] place = reader.seek(span, before).orElseThrow();
        Span rest =
            query.descending()
                ? new Span(span.from(), Optional.of(Arrays.copyOf(place, place.length + 1)))
                : new Span(place, span.to());
        left = left.skipped(left.skip()).on(Optional.of(rest), 0);
      }
    }
    return left;
  }

  private Span behind(Span span, byte[] place) {
    return query.descending()
        ? new Span(span.from(), Optional.of(place))
        : new Span(Arrays.copyOf(place, place.length + 1), span.to());
  }

  /** Returns the first rows of a span: about as many bytes as there is room for. */
  private List<KeyValue> some(
      ReadTransaction tx, ViewRows rows, Span span, int most, int mostBytes) {
    Range range = rows.range(view.number(), 0, span.from(), span.to());
    AsyncIterator<KeyValue> all =
        tx.getRange(range.begin, range.end, most, query.descending(), StreamingMode.ITERATOR)
            .iterator();
    List<KeyValue> some = new ArrayList<>();
    try {
      int bytes = 0;
      while (bytes < mostBytes && all.hasNext()) {
        KeyValue row = all.next();
        some.add(row);
        bytes += row.getValue().length;
      }
    } finally {
      all.cancel();
    }
    return some;
  }

  private void appendRows(
      ViewRows rows,
      List<KeyValue> some,
      ShownDocuments documents,
      boolean hasRows,
      JsonBuffer out) {
    List<Emitted> emitted = some.stream().map(row -> ViewRows.emitted(row.getValue())).toList();
    List<String> ids =
        some.stream()
            .map(row -> ViewRows.parts(rows.placeOf(view.number(), 0, row)).docId())
            .toList();
    List<Optional<ShownDocuments.Started>> docs =
        query.includeDocs() ? documents.start(ids, emitted) : List.of();
    int before = out.length();
    for (int i = 0; i < some.size(); i++) {
      out.ascii(hasRows || i > 0 ? ",\r\n" : "\r\n");
      out.ascii("{\"id\":").string(ids.get(i)).ascii(",\"key\":").raw(emitted.get(i).key());
      out.ascii(",\"value\":").raw(emitted.get(i).value());
      if (query.includeDocs()) {
        out.ascii(",\"doc\":");
        documents.append(docs.get(i), out);
      }
      out.octet('}');
    }
    documents.took(some.size(), out.length() - before);
  }

  /**
   * Rows that are reduced together.
   *
   * @param key of the group, as JSON
   * @param place where its first row is
   */
  private record Group(byte[] key, byte[] place, List<Piece> pieces) {}

  /** Reads groups; those that may have more rows behind the part are left to the next one. */
  private Part groups(
      ReadTransaction tx, TreeReader reader, ViewRows rows, Progress from, long at) {
    Span span = from.current();
    long level = query.groupLevel();
    long wanted =
        from.limit() > MAX_OPEN ? MAX_OPEN : from.limit() + Math.min(MAX_OPEN, from.skip());
    int open = (int) Math.max(MIN_OPEN, Math.min(MAX_OPEN, wanted + MIN_OPEN));
    TreeReader.Grouping grouping =
        level == 0 ? TreeReader.Grouping.NONE : place -> groupOf(place, level);
    Pieces pieces =
        reader.pieces(
            span,
            grouping,
            level == 0 ? Integer.MAX_VALUE : open,
            MAX_REDUCED_BYTES,
            query.descending());
    List<List<Piece>> all = divide(pieces.all(), grouping);
    Optional<Span> rest = Optional.empty();
    if (pieces.cut().isPresent() && level > 0) {
      boolean isDescending = query.descending();
      int cut = isDescending ? 0 : all.size() - 1;
      List<Piece> incomplete = all.remove(cut);
      byte[] place = incomplete.get(0).place();
      rest =
          Optional.of(
              isDescending
                  ? new Span(span.from(), Optional.of(all.get(0).get(0).place()))
                  : new Span(place, span.to()));
    }
    List<CompletableFuture<byte[]>> keys =
        all.stream().map(group -> key(tx, rows, group.get(0))).toList();
    List<Group> groups = new ArrayList<>();
    for (int i = 0; i < all.size(); i++) {
      byte[] key = level == 0 ? NULL : groupKey(Awaiting.await(keys.get(i)), level);
      groups.add(new Group(key, all.get(i).get(0).place(), all.get(i)));
    }
    if (query.descending()) {
      Collections.reverse(groups);
    }
    return new Part(at, from.on(rest, 0), groups);
  }

  private static final byte[] NULL = ViewFunctions.utf8(new JsonValue.JsonNull());

  private static List<List<Piece>> divide(List<Piece> pieces, TreeReader.Grouping grouping) {
    List<List<Piece>> groups = new ArrayList<>();
    int from = 0;
    while (from < pieces.size()) {
      byte[] group = grouping.of(pieces.get(from).place());
      // Groups are in the order of pieces: of those behind the first, some are of its group.
      int end = from + 1;
      int step = 1;
      while (step > 0) {
        int at = end + step - 1;
        boolean isOfIt =
            at < pieces.size() && Arrays.equals(group, grouping.of(pieces.get(at).place()));
        end = isOfIt ? at + 1 : end;
        step = isOfIt ? 2 * step : step / 2;
      }
      groups.add(pieces.subList(from, end));
      from = end;
    }
    return groups;
  }

  private static byte[] groupOf(byte[] place, long level) {
    byte[] key = ViewRows.sortKey(place);
    return Arrays.copyOf(key, EmittedKey.groupEnd(key, level));
  }

  /** Begins to read the key of a group's first row. */
  private CompletableFuture<byte[]> key(ReadTransaction tx, ViewRows rows, Piece first) {
    if (query.groupLevel() == 0) {
      return CompletableFuture.completedFuture(NULL);
    }
    CompletableFuture<byte[]> row =
        first instanceof Piece.Row known
            ? CompletableFuture.completedFuture(known.value())
            : tx.get(rows.key(view.number(), 0, first.place()));
    return row.thenApply(value -> ViewRows.emitted(value).key());
  }

  private static byte[] groupKey(byte[] key, long level) {
    if (level < Long.MAX_VALUE
        && JsonValue.parse(key) instanceof JsonArray array
        && array.elements().size() > level) {
      return ViewFunctions.utf8(new JsonArray(array.elements().subList(0, (int) level)));
    }
    return key;
  }

  /** Reduces the groups of a part, outside of any transaction, and writes them. */
  private Progress written(Part part, JsonBuffer out) {
    Progress left = part.progress();
    List<Group> groups = part.groups();
    int skipped = (int) Math.min(left.skip(), groups.size());
    int taken = (int) Math.min(left.limit(), groups.size() - skipped);
    List<Group> shown = groups.subList(skipped, skipped + taken);
    List<byte[]> reductions = reduced(shown);
    for (int i = 0; i < shown.size(); i++) {
      out.ascii(left.hasRows() || i > 0 ? ",\r\n" : "\r\n");
      out.ascii("{\"key\":").raw(shown.get(i).key()).ascii(",");
      reducer.append(reductions.get(i), out);
      out.octet('}');
    }
    return new Progress(
        left.spans(),
        left.done(),
        left.rest(),
        left.skip() - skipped,
        left.limit() - taken,
        left.hasRows() || taken > 0);
  }

  /** Rows that follow each other are reduced together; then all is reduced again, in order. */
  private List<byte[]> reduced(List<Group> groups) {
    List<List<ReducedRow>> runs = new ArrayList<>();
    List<List<Object>> parts = new ArrayList<>();
    for (Group group : groups) {
      List<Object> of = new ArrayList<>();
      List<ReducedRow> run = null;
      for (Piece piece : group.pieces()) {
        if (piece instanceof Piece.Whole whole) {
          of.add(whole.summary().reduction());
          run = null;
        } else if (piece instanceof Piece.Row row) {
          if (run == null) {
            run = new ArrayList<>();
            of.add(runs.size());
            runs.add(run);
          }
          run.add(new ReducedRow(ViewRows.emitted(row.value()), row.place()));
        }
      }
      parts.add(of);
    }
    List<byte[]> ofRuns = runs.isEmpty() ? List.of() : reducer.reduce(runs);
    return Reducer.combined(
        reducer,
        parts.stream()
            .map(
                all ->
                    all.stream()
                        .map(it -> it instanceof Integer run ? ofRuns.get(run) : (byte[]) it)
                        .toList())
            .toList());
  }
}
