package lectus.feed.many;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import lectus.database.DatabaseName;
import lectus.error.LectusException;
import lectus.feed.DatabaseNotices;
import lectus.feed.LivePage;
import lectus.feed.LiveSource;
import lectus.feed.Registration;
import lectus.feed.Sharing;
import lectus.feed.filter.FeedFilter;
import lectus.feed.page.FeedOptions;
import lectus.feed.updates.StoreNews;
import lectus.feed.updates.StorePosition;

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
  private final DatabaseNotices events;
  private final VisibleDatabases visible;
  private final StorePosition known;
  private final StoreNews news;
  private final Map<StorePosition, CandidateScan> scans = new LinkedHashMap<>();

  private record Identity(DatabaseSet databases, FeedOptions options) {}

  /**
   * @param known when its reader began, if that was at the beginning; else where
   */
  ManyDatabasesSource(
      ManyDatabases reader,
      DatabaseNotices events,
      DatabaseSet databases,
      FeedOptions options,
      VisibleDatabases visible,
      StorePosition known) {
    this.known = known;
    this.events = events;
    this.visible = visible;
    this.reader = reader;
    this.databases = databases;
    this.options = options;
    this.news = new StoreNews(events, databases.wanted());
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
    return visible.isOfEverything()
        ? this
        : new ManyDatabasesSource(
            reader, events, databases, options, VisibleDatabases.EVERYTHING, known);
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
      ManyDatabases.Page page = reader.page(scan, visible, options, from, limit, later(from));
      next = page.shown().next();
      return page;
    } finally {
      keep(next, scan);
    }
  }

  private StorePosition later(StorePosition from) {
    return from.compareTo(known) < 0 ? known : from;
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
  public boolean hasNews(StorePosition position) {
    return news.isBehind(position);
  }
}
