package lectus.database;

import com.apple.foundationdb.ReadTransaction;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.index.DatabaseIndexes;

/**
 * What a handle tells of a database's design documents.
 *
 * @param validator the first that asks for every write to be validated
 */
record DesignListing(Optional<String> validator, DatabaseIndexes indexes) {
  static final DesignListing NONE = new DesignListing(Optional.empty(), DatabaseIndexes.NONE);

  static CompletableFuture<DesignListing> read(ReadTransaction tx, byte[] prefix) {
    CompletableFuture<DatabaseIndexes> indexes =
        new IndexesSubspace(prefix).all(tx).thenApply(DatabaseIndexes::new);
    return new ValidatorsSubspace(prefix).first(tx).thenCombine(indexes, DesignListing::new);
  }
}
