package lectus.changes.notify;

import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import lectus.changes.filter.FeedFilter;
import lectus.changes.notify.ManyDatabases.VisibleDatabases;
import lectus.changes.page.DatabaseNotifications;
import lectus.changes.page.FeedOptions;
import lectus.changes.page.LivePage;
import lectus.changes.page.LivePage.TailPage;
import lectus.changes.page.LivePage.View;
import lectus.changes.page.LivePage.ViewPage;
import lectus.changes.page.LiveSource;
import lectus.changes.page.LiveSource.Sharing;
import lectus.changes.page.LiveSource.TailReader;
import lectus.changes.page.Registration;
import lectus.changes.page.Rows;
import lectus.database.DatabaseName;
import lectus.error.LectusException;
import lectus.store.Versionstamp;

/**
 * The changes of many databases in one order, as a live source. What a reader learned about where
 * databases begin is kept for its next page; a reader at another position learns it anew.
 */
final class ManyDatabasesSource implements LiveSource<StorePosition> {
  /** Number of scans kept, for readers of one source at different positions. */
  private static final int SCANS_KEPT = 4;

  private final ManyDatabases reader;
  private final DatabaseSet databases;
  private final FeedOptions options;
  private final DatabaseNotifications events;
  private final VisibleDatabases visible;
  private final StoreNotifications news;
  private final Map<StorePosition, CandidateScan> scans = new LinkedHashMap<>();

  /** Where the last page ended, if it was still finding out what follows; else null. */
  private volatile StorePosition unfinished;

  private record Identity(DatabaseSet databases, FeedOptions options) {}

  ManyDatabasesSource(
      ManyDatabases reader,
      DatabaseNotifications events,
      DatabaseSet databases,
      FeedOptions options,
      VisibleDatabases visible) {
    this.events = events;
    this.visible = visible;
    this.reader = reader;
    this.databases = databases;
    this.options = options;
    this.news = new StoreNotifications(events, databases.wanted());
  }

  /** All users share one reader, and those who see the same share the rows. */
  @Override
  public Optional<Sharing<StorePosition>> sharing() {
    return options.sequenceInterval() == 1
        ? Optional.of(
            new Sharing<>(
                new Identity(databases, options),
                visible,
                () -> new SharedPages(ofEverything()),
                ofEverything()))
        : Optional.empty();
  }

  private ManyDatabasesSource ofEverything() {
    return visible.user().isServerAdmin()
        ? this
        : new ManyDatabasesSource(reader, events, databases, options, VisibleDatabases.EVERYTHING);
  }

  @Override
  public LivePage<StorePosition> page(StorePosition from, long limit) {
    ManyDatabases.Page page = read(from, limit);
    for (DatabaseName database : page.bereft()) {
      throw feedDeleted(database);
    }
    return page.shown();
  }

  /** The reader begins again: nothing tells which of its rows are void. */
  LectusException feedDeleted(DatabaseName database) {
    String feed = ((FeedFilter.OfFeed) options.filter()).name();
    return FeedFilter.gone(feed + " of the database " + database.text());
  }

  ManyDatabases.Page read(StorePosition from, long limit) {
    CandidateScan scan = take(from).orElseGet(() -> reader.scan(databases, from));
    StorePosition next = from;
    try {
      ManyDatabases.Page page = reader.page(scan, visible, options, from, limit);
      next = page.shown().next();
      unfinished = page.isFindingOut() ? next : null;
      return page;
    } finally {
      keep(next, scan);
    }
  }

  private Optional<CandidateScan> take(StorePosition from) {
    synchronized (scans) {
      return Optional.ofNullable(scans.remove(from));
    }
  }

  private void keep(StorePosition next, CandidateScan scan) {
    Optional<CandidateScan> dropped = Optional.of(scan);
    if (!scan.isOver()) {
      synchronized (scans) {
        dropped = Optional.ofNullable(scans.put(next, scan)).or(this::oldestOfTooMany);
      }
    }
    dropped.ifPresent(it -> it.candidates().drop());
  }

  private Optional<CandidateScan> oldestOfTooMany() {
    return scans.size() > SCANS_KEPT
        ? Optional.of(scans.remove(scans.keySet().iterator().next()))
        : Optional.empty();
  }

  @Override
  public Registration listen(Listener listener) {
    return news.listen(listener);
  }

  @Override
  public boolean isFindingOut(StorePosition position) {
    return position.equals(unfinished);
  }

  /** Other databases moved on. */
  @Override
  public StorePosition quietTo(StorePosition position) {
    Versionstamp told = events.toldTo();
    return told.compareTo(position.at()) > 0 ? position.movedTo(told) : position;
  }

  @Override
  public boolean hasNews(StorePosition position) {
    return news.isBehind(position);
  }

  /**
   * Reads the new changes of many databases once for all users who want the same, and gives each
   * the rows of the databases that the user may read.
   */
  private static final class SharedPages implements TailReader<StorePosition> {
    private final ManyDatabasesSource everything;
    private final Set<View> views = new HashSet<>();

    SharedPages(ManyDatabasesSource everything) {
      this.everything = everything;
    }

    @Override
    public void add(View view) {
      views.add(view);
    }

    @Override
    public void remove(View view) {
      views.remove(view);
    }

    @Override
    public TailPage<StorePosition> page(StorePosition from) {
      ManyDatabases.Page read = everything.read(from, Long.MAX_VALUE);
      LivePage<StorePosition> page = read.shown();
      return new TailPage<>(from, views(read), page.next(), page.reachedEnd(), page.end());
    }

    private Map<View, ViewPage<StorePosition>> views(ManyDatabases.Page read) {
      Rows<StorePosition> all = read.shown().rows();
      Map<RowNumbers, ViewPage<StorePosition>> equal = new HashMap<>();
      Map<View, ViewPage<StorePosition>> pages = new HashMap<>();
      for (View view : views) {
        VisibleDatabases visible = (VisibleDatabases) view.shows();
        int[] chosen = seen(read, visible);
        Optional<DatabaseName> bereft =
            read.bereft().stream()
                .filter(it -> visible.isAmong(read.readers().get(it)))
                .findFirst();
        if (bereft.isPresent()) {
          pages.put(view, new ViewPage.Failed<>(everything.feedDeleted(bereft.get())));
          continue;
        }
        if (chosen.length > 0) {
          pages.put(
              view,
              equal.computeIfAbsent(
                  new RowNumbers(chosen),
                  none ->
                      new ViewPage.Shown<>(chosen.length == all.size() ? all : all.only(chosen))));
        }
      }
      return pages;
    }

    private static int[] seen(ManyDatabases.Page read, VisibleDatabases visible) {
      Rows<StorePosition> all = read.shown().rows();
      return visible.user().isServerAdmin()
          ? IntStream.range(0, all.size()).toArray()
          : IntStream.range(0, all.size()).filter(row -> isSeen(read, row, visible)).toArray();
    }

    private static boolean isSeen(ManyDatabases.Page read, int row, VisibleDatabases visible) {
      Rows<StorePosition> all = read.shown().rows();
      return visible.isAmong(
          all.isLeft(row)
              ? read.formerReaders().get(all.at(row))
              : read.readers().get(all.database(row)));
    }

    /** Numbers of rows, compared by value. */
    private record RowNumbers(int[] rows) {
      @Override
      public boolean equals(Object other) {
        return other instanceof RowNumbers that && Arrays.equals(rows, that.rows);
      }

      @Override
      public int hashCode() {
        return Arrays.hashCode(rows);
      }
    }
  }
}
