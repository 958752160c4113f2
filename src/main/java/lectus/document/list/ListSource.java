package lectus.document.list;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.ReadTransaction;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.database.DatabaseHandle;
import lectus.document.list.AllDocsSubspace.AllDocsRow;

/** A list of documents in the store: where its rows, in the order of ids, and their bodies lie. */
interface ListSource {
  /** Returns the list that a query asks for. */
  static ListSource of(AllDocsQuery query, DatabaseHandle db) {
    return switch (query.listing()) {
      case ALL ->
          query
              .partition()
              .map(partition -> LiveDocuments.of(db, partition))
              .orElseGet(() -> LiveDocuments.all(db));
      case DESIGN -> LiveDocuments.design(db);
      case LOCAL -> new LocalListing(db);
    };
  }

  /** Returns where the list begins. */
  byte[] begin();

  /** Returns where the list ends. */
  byte[] end();

  /** Returns the key of an id's row. */
  byte[] key(String id);

  /** Returns the first key after {@link #key}. */
  default byte[] keyAfter(String id) {
    byte[] key = key(id);
    return Arrays.copyOf(key, key.length + 1);
  }

  AllDocsRow decode(KeyValue row);

  /** Returns the row of an id; empty if the list has none. */
  CompletableFuture<Optional<AllDocsRow>> row(ReadTransaction tx, String id);

  /**
   * Returns the prefix of the keys of all of an id's bodies, which lie in the order of the list.
   */
  byte[] bodies(String id);

  /** Returns the prefix of the keys of a row's body. */
  byte[] body(AllDocsRow row);
}
