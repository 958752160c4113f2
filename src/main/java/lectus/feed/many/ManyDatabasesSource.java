package lectus.feed.many;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import lectus.database.InstanceId;
import lectus.feed.DatabaseEvents;
import lectus.feed.LivePage;
import lectus.feed.LiveSource;
import lectus.feed.Registration;
import lectus.feed.page.FeedOptions;
import lectus.feed.updates.StoreNews;
import lectus.feed.updates.StorePosition;

/**
 * The changes of many databases in one order, as a live source. What a reader found out about where
 * databases begin is kept for its next page; a reader that comes from elsewhere finds it out anew.
 */
final class ManyDatabasesSource implements LiveSource<StorePosition> {
  /** Readers of one source that go on at different positions. */
  private static final int SCANS_KEPT = 4;

  private final ManyDatabases reader;
  private final DatabaseSet databases;
  private final FeedOptions options;
  private final StoreNews news;
  private final Map<StorePosition, CandidateScan> scans = new LinkedHashMap<>();

  private record Identity(DatabaseSet databases, FeedOptions options) {}

  ManyDatabasesSource(
      ManyDatabases reader, DatabaseEvents events, DatabaseSet databases, FeedOptions options) {
    this.reader = reader;
    this.databases = databases;
    this.options = options;
    this.news = new StoreNews(events, this::isOfUse, databases::contains);
  }

  private boolean isOfUse(InstanceId instance) {
    return reader.name(instance).map(databases::contains).orElse(true);
  }

  @Override
  public Optional<Object> identity() {
    return options.sequenceInterval() == 1
        ? Optional.of(new Identity(databases, options))
        : Optional.empty();
  }

  @Override
  public LivePage<StorePosition> page(StorePosition from, long limit) {
    CandidateScan scan = take(from).orElseGet(() -> reader.scan(databases, from));
    while (true) {
      ManyDatabases.Step step = reader.step(scan, options, from, limit);
      scan = step.scan();
      LivePage<StorePosition> page = step.page();
      if (page != null && (page.reachedEnd() || page.next().compareTo(from) > 0)) {
        keep(page.next(), scan);
        return page;
      }
      if (page != null && scan.candidates().isAtHorizon()) {
        scan = reader.scan(databases, from);
      }
    }
  }

  private Optional<CandidateScan> take(StorePosition from) {
    synchronized (scans) {
      return Optional.ofNullable(scans.remove(from));
    }
  }

  /** Behind what was forgotten only a new scan finds what comes next. */
  private void keep(StorePosition next, CandidateScan scan) {
    if (!scan.candidates().isAtHorizon()) {
      synchronized (scans) {
        scans.put(next, scan);
        if (scans.size() > SCANS_KEPT) {
          Iterator<StorePosition> oldest = scans.keySet().iterator();
          oldest.next();
          oldest.remove();
        }
      }
    }
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
