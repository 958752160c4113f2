package lectus.changes.page;

import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import lectus.changes.filter.Departures;
import lectus.changes.filter.FilterIndex;
import lectus.changes.filter.FilterIndex.EntryMatch;
import lectus.changes.filter.PassingEntries.Passing;
import lectus.changes.log.ChangesSubspace.ChangeEntry;
import lectus.changes.page.LivePage.View;
import lectus.changes.page.LivePage.ViewPage;
import lectus.changes.page.Rows.RowsBuilder;
import lectus.database.DatabaseHandle;
import lectus.store.Awaiting;

/**
 * Turns entries of one database into rows for all views of a tail. Views whose rows look alike
 * share them: each such row is read and written once.
 */
final class SharedRows {
  /** Number of entries whose further reads are started together. */
  private static final int ENTRIES_STARTED = 32;

  /**
   * Rows of different shapes for one entry are written until the page has overflowed this many
   * times.
   */
  private static final int MAX_OVERFLOWS = 4;

  private final ReadTransaction tx;
  private final DatabaseHandle db;
  private final ViewSet views;
  private final EntryMatch<View> match;
  private final int fullAt;
  private final Map<FeedOptions, ShapeRows> shapes = new HashMap<>();
  private final Map<View, Throwable> failed = new HashMap<>();
  private final Set<View> crowded = new HashSet<>();

  /**
   * @param fullAt total size of all rows in bytes at which no further entry is begun
   */
  SharedRows(ReadTransaction tx, DatabaseHandle db, ViewSet views, int fullAt) {
    this.tx = tx;
    this.db = db;
    this.views = views;
    this.match = views.filters().in(tx, db);
    this.fullAt = fullAt;
  }

  /** The rows to write for one entry, and their views. */
  private final class Wanted implements EntryMatch.Outcome<View> {
    private final Map<ShapeRows, Map<Passing, List<View>>> rows = new LinkedHashMap<>();

    @Override
    public void passes(View who, Passing row) {
      ShapeRows shape =
          shapes.computeIfAbsent(views.shapes.get(who), options -> new ShapeRows(tx, db, options));
      rows.computeIfAbsent(shape, none -> new LinkedHashMap<>())
          .computeIfAbsent(row, none -> new ArrayList<>())
          .add(who);
    }

    @Override
    public void fails(View who, Throwable failure) {
      failed.putIfAbsent(who, failure);
    }

    @Override
    public void waits(View who) {
      crowded.add(who);
    }

    void start() {
      rows.forEach((shape, passing) -> passing.keySet().forEach(shape::start));
    }

    void append() {
      rows.forEach((shape, passing) -> passing.forEach((row, who) -> append(shape, who)));
    }

    private void append(ShapeRows shape, List<View> who) {
      if (bytes() >= (long) MAX_OVERFLOWS * fullAt) {
        shape.started.remove();
        crowded.addAll(who);
      } else {
        appendIfReadable(shape, who);
      }
    }

    /** An unreadable document affects only those who are shown it. */
    private void appendIfReadable(ShapeRows shape, List<View> who) {
      try {
        shape.append(who);
      } catch (RuntimeException unreadable) {
        RuntimeException failure = Awaiting.failureOfData(unreadable);
        who.forEach(view -> fails(view, failure));
      }
    }
  }

  PageRows.Progress append(List<ChangeEntry> entries, Departures departures, long limit) {
    int lookedAt = 0;
    while (lookedAt < entries.size() && (lookedAt == 0 || !isFull())) {
      int end = Math.min(entries.size(), lookedAt + ENTRIES_STARTED);
      for (Wanted wanted : started(entries.subList(lookedAt, end), departures)) {
        if (lookedAt > 0 && bytes() >= fullAt) {
          break;
        }
        wanted.append();
        lookedAt++;
      }
    }
    return new PageRows.Progress(lookedAt, lookedAt);
  }

  private List<Wanted> started(List<ChangeEntry> entries, Departures departures) {
    List<EntryMatch.Started> matching =
        entries.stream().map(entry -> match.start(entry, departures)).toList();
    List<Wanted> all = new ArrayList<>();
    for (EntryMatch.Started each : matching) {
      if (!all.isEmpty() && match.isSpent()) {
        break;
      }
      Wanted wanted = new Wanted();
      match.finish(each, wanted);
      wanted.start();
      all.add(wanted);
    }
    return all;
  }

  private boolean isFull() {
    return bytes() >= fullAt || match.isSpent();
  }

  private long bytes() {
    long bytes = 0;
    for (ShapeRows shape : shapes.values()) {
      bytes += shape.bytes();
    }
    return bytes;
  }

  Map<View, ViewPage<FeedPosition>> build() {
    match.tellOfDeletedFeeds(new Wanted());
    Map<View, ViewPage<FeedPosition>> pages = new HashMap<>();
    shapes.values().forEach(shape -> shape.build(pages));
    crowded.forEach(view -> pages.put(view, new ViewPage.Crowded<>()));
    failed.forEach((view, failure) -> pages.put(view, new ViewPage.Failed<>(failure)));
    return pages;
  }

  /** The rows of one page that look alike, and which views see which of them. */
  private static final class ShapeRows {
    private static final int FIRST_CAPACITY = 512;

    private final RowsBuilder<FeedPosition> rows = new RowsBuilder<>(FIRST_CAPACITY);
    private final RowWriter writer;
    private final Deque<RowWriter.Started> started = new ArrayDeque<>();
    private final Map<View, IntStream.Builder> seen = new LinkedHashMap<>();

    ShapeRows(ReadTransaction tx, DatabaseHandle db, FeedOptions shape) {
      this.writer = new RowWriter(tx, db, shape, rows.json());
    }

    /**
     * Starts the reads that a row needs beyond its entry. Rows are appended or skipped in this
     * order.
     */
    void start(Passing row) {
      started.add(writer.start(row));
    }

    /**
     * Leaves nothing behind of a row that cannot be written.
     *
     * @throws RuntimeException why the row's document could not be read, or why the transaction has
     *     to be retried
     */
    void append(List<View> who) {
      RowWriter.Started row = started.remove();
      int number = rows.size();
      int begin = bytes();
      try {
        writer.append(row, true);
      } catch (RuntimeException failure) {
        rows.json().truncate(begin);
        throw failure;
      }
      rows.endRow(FeedPosition.after(row.passing().entry().sequence()));
      who.forEach(view -> seen.computeIfAbsent(view, none -> IntStream.builder()).add(number));
    }

    int bytes() {
      return rows.json().length();
    }

    /** Gives views with the same rows the same object. */
    void build(Map<View, ViewPage<FeedPosition>> pages) {
      Rows<FeedPosition> all = rows.build();
      Map<List<Integer>, ViewPage<FeedPosition>> equal = new HashMap<>();
      seen.forEach(
          (view, numbers) -> {
            int[] chosen = numbers.build().toArray();
            pages.put(
                view,
                equal.computeIfAbsent(
                    IntStream.of(chosen).boxed().toList(),
                    none -> new ViewPage.Shown<>(all.only(chosen))));
          });
    }
  }

  /** The views of a tail and what each shows. Not thread-safe. */
  static final class ViewSet {
    private final FilterIndex<View> filters = new FilterIndex<>();
    private final Map<View, FeedOptions> shapes = new HashMap<>();

    void add(View view) {
      FeedOptions options = optionsOf(view);
      shapes.put(view, options.shape());
      filters.add(view, options.filter(), options.allLeaves());
    }

    void remove(View view) {
      shapes.remove(view);
      filters.remove(view, optionsOf(view).filter());
    }

    /** Views of a database differ by their options ({@link DatabaseSource#sharing}). */
    private static FeedOptions optionsOf(View view) {
      return (FeedOptions) view.shows();
    }

    FilterIndex<View> filters() {
      return filters;
    }
  }
}
