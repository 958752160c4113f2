package lectus.document.alldocs;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.ReadTransaction;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.database.DatabaseHandle;

/** A list of documents in the store: rows in the order of their ids, and where their bodies lie. */
interface ListSource {
  /** The list that a question asks for. */
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

  /** Where the list begins. */
  byte[] begin();

  /** Where the list ends. */
  byte[] end();

  /** The key of an id's row. */
  byte[] key(String id);

  /** The first key behind {@link #key}. */
  default byte[] keyAfter(String id) {
    byte[] key = key(id);
    return Arrays.copyOf(key, key.length + 1);
  }

  AllDocsRow decode(KeyValue row);

  /** The row of an id, if the list has it. */
  CompletableFuture<Optional<AllDocsRow>> row(ReadTransaction tx, String id);

  /** What the keys of all bodies of an id begin with; they lie in the order of the list. */
  byte[] bodies(String id);

  /** What the keys of a row's body begin with. */
  byte[] body(AllDocsRow row);
}
