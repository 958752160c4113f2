package lectus.database;

import com.apple.foundationdb.ReadTransaction;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.derived.DatabaseFeeds;
import lectus.derived.DatabaseIndexes;

/**
 * What a handle tells of a database's design documents, stored feeds and purges.
 *
 * @param validator the first that asks for every write to be validated
 * @param mayHavePurges as {@link DatabaseHandle} says
 */
record DesignListing(
    Optional<String> validator,
    DatabaseIndexes indexes,
    DatabaseFeeds feeds,
    boolean mayHavePurges) {
  static final DesignListing NONE =
      new DesignListing(Optional.empty(), DatabaseIndexes.NONE, DatabaseFeeds.NONE, true);

  private record Designs(Optional<String> validator, DatabaseIndexes indexes) {}

  private record Others(DatabaseFeeds feeds, boolean mayHavePurges) {}

  static CompletableFuture<DesignListing> read(ReadTransaction tx, byte[] prefix) {
    CompletableFuture<Optional<String>> validator = new ValidatorsSubspace(prefix).first(tx);
    CompletableFuture<DatabaseIndexes> indexes =
        new IndexesSubspace(prefix).all(tx).thenApply(DatabaseIndexes::new);
    CompletableFuture<DatabaseFeeds> feeds =
        new FeedsSubspace(prefix).all(tx).thenApply(DatabaseFeeds::new);
    CompletableFuture<Boolean> anyPurge =
        tx.snapshot()
            .getRange(DatabaseSubspace.PURGES.range(prefix), 1)
            .asList()
            .thenApply(rows -> !rows.isEmpty());
    return validator
        .thenCombine(indexes, Designs::new)
        .thenCombine(
            feeds.thenCombine(anyPurge, Others::new),
            (designs, others) ->
                new DesignListing(
                    designs.validator, designs.indexes, others.feeds, others.mayHavePurges));
  }
}
