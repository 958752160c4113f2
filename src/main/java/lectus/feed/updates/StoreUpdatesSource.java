package lectus.feed.updates;

import java.util.Optional;
import lectus.database.DatabaseUpdate;
import lectus.feed.DatabaseNotices;
import lectus.feed.LivePage;
import lectus.feed.LiveSource;
import lectus.feed.Registration;
import lectus.feed.RowsBuilder;
import lectus.feed.Sharing;
import lectus.feed.WantedDatabases;

/** What happened to databases, as a live source. */
final class StoreUpdatesSource implements LiveSource<StorePosition> {
  /** All listeners of a store's updates read the same. */
  private static final Object IDENTITY = StoreUpdatesSource.class;

  private final StoreUpdates updates;
  private final StoreNews news;

  StoreUpdatesSource(StoreUpdates updates, DatabaseNotices events) {
    this.updates = updates;
    this.news = new StoreNews(events, WantedDatabases.ALL);
  }

  @Override
  public Optional<Sharing<StorePosition>> sharing() {
    return Optional.of(Sharing.ofEqualRows(IDENTITY, this));
  }

  @Override
  public LivePage<StorePosition> page(StorePosition from, long limit) {
    StoreUpdates.Page page = updates.page(from, limit);
    RowsBuilder<StorePosition> rows = new RowsBuilder<>(512);
    for (DatabaseUpdate row : page.rows()) {
      StoreUpdates.append(row, rows.json());
      rows.endRow(new StorePosition(row.at()));
    }
    return new LivePage<>(
        rows.build(), page.next(), page.reachedEnd(), page.reachedEnd() ? 0 : 1, Optional.empty());
  }

  @Override
  public Registration listen(Listener listener) {
    return news.listen(listener);
  }

  /** One row stands for all documents of a commit. */
  @Override
  public boolean hasNews(StorePosition position) {
    return news.isOfLaterCommit(position);
  }
}
