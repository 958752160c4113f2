package lectus.document;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.ReadTransaction;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** A list of documents in the store: rows in the order of their ids, and where their bodies lie. */
interface ListSource {
  /** Where the list begins. */
  byte[] begin();

  /** Where the list ends. */
  byte[] end();

  /** The key of an id's row. */
  byte[] key(String id);

  /** The first key behind {@link #key}. */
  byte[] keyAfter(String id);

  AllDocsRow decode(KeyValue row);

  /** The row of an id, if the list has it. */
  CompletableFuture<Optional<AllDocsRow>> row(ReadTransaction tx, String id);

  /** What the keys of all bodies of an id begin with; they lie in the order of the list. */
  byte[] bodies(String id);

  /** What the keys of a row's body begin with. */
  byte[] body(AllDocsRow row);
}
