package lectus.database;

import com.apple.foundationdb.ReadTransaction;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.channel.DatabaseFeeds;
import lectus.index.DatabaseIndexes;

/**
 * What a handle tells of a database's design documents and stored feeds.
 *
 * @param validator the first that asks for every write to be validated
 */
record DesignListing(Optional<String> validator, DatabaseIndexes indexes, DatabaseFeeds feeds) {
  static final DesignListing NONE =
      new DesignListing(Optional.empty(), DatabaseIndexes.NONE, DatabaseFeeds.NONE);

  private record Listed(DatabaseIndexes indexes, DatabaseFeeds feeds) {}

  static CompletableFuture<DesignListing> read(ReadTransaction tx, byte[] prefix) {
    CompletableFuture<DatabaseIndexes> indexes =
        new IndexesSubspace(prefix).all(tx).thenApply(DatabaseIndexes::new);
    CompletableFuture<DatabaseFeeds> feeds =
        new FeedsSubspace(prefix).all(tx).thenApply(DatabaseFeeds::new);
    return new ValidatorsSubspace(prefix)
        .first(tx)
        .thenCombine(
            indexes.thenCombine(feeds, Listed::new),
            (validator, listed) -> new DesignListing(validator, listed.indexes, listed.feeds));
  }
}
