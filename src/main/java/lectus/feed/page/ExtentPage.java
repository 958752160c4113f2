package lectus.feed.page;

import com.apple.foundationdb.ReadTransaction;
import java.util.List;
import java.util.Optional;
import lectus.channel.StoredFeed;
import lectus.database.DatabaseHandle;
import lectus.database.ShardId;
import lectus.document.PageLimits;
import lectus.feed.filter.FeedView;

/** Reads pages in one transaction: from the changes index, or from a stored feed. */
record ExtentPage(
    ReadTransaction tx, DatabaseHandle db, Optional<ShardId> shard, PageLimits limits) {

  /**
   * @param options as they are in the database
   */
  FeedPage read(
      FeedOptions options, boolean descending, PageRows rows, FeedPosition from, long limit) {
    Optional<FeedView> stored = shard.isEmpty() ? options.storedFeed() : Optional.empty();
    return stored.isPresent()
        ? new StoredPage(tx, db, stored.get(), descending, limits, rows).read(from, limit)
        : read(options, descending, rows::append, options.departing(), from, limit);
  }

  /**
   * @param departing the stored feeds of whose departures somebody is told
   */
  FeedPage read(
      FeedOptions options,
      boolean descending,
      EntryShow show,
      List<StoredFeed> departing,
      FeedPosition from,
      long limit) {
    FeedExtent extent = FeedExtent.of(db.topology(), shard);
    return new PageReader(tx, db, extent, options, descending, limits, show, departing)
        .read(from, limit);
  }
}
