package lectus.document.read;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.ReadTransaction;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.database.DatabaseHandle;
import lectus.document.DocumentId;
import lectus.document.DocumentsSubspace;
import lectus.document.read.AllDocsQuery.ListKey;
import lectus.document.read.AllDocsSubspace.AllDocsRow;
import lectus.document.read.LocalDocsSubspace.LocalRow;

/**
 * A list of documents in the store: where its rows, in the order of ids, and their bodies lie. It
 * has the live documents, or some of them, or the local documents, each with exactly one branch.
 */
final class ListSource {
  /** The first id that sorts after every {@code _design/…}. */
  private static final String BEHIND_DESIGN = "_design0";

  private final AllDocsSubspace live;
  private final DocumentsSubspace documents;
  private final LocalDocsSubspace local;
  private final boolean isLocal;
  private final byte[] begin;
  private final byte[] end;

  /** The list that a query asks for. */
  ListSource(AllDocsQuery query, DatabaseHandle db) {
    this.live = new AllDocsSubspace(db);
    this.documents = new DocumentsSubspace(db);
    this.local = new LocalDocsSubspace(db);
    this.isLocal = query.listing() == AllDocsQuery.Listing.LOCAL;
    switch (query.listing()) {
      case LOCAL -> {
        begin = local.begin();
        end = local.end();
      }
      case DESIGN -> {
        begin = live.key(DocumentId.DESIGN_PREFIX);
        end = live.key(BEHIND_DESIGN);
      }
      default -> {
        begin = query.partition().map(it -> live.key(it.firstId())).orElseGet(live::begin);
        end = query.partition().map(it -> live.key(it.endId())).orElseGet(live::end);
      }
    }
  }

  byte[] begin() {
    return begin;
  }

  byte[] end() {
    return end;
  }

  byte[] key(String id) {
    return isLocal ? local.key(id) : live.key(id);
  }

  /** Returns the first key after {@link #key}. */
  byte[] keyAfter(String id) {
    byte[] key = key(id);
    return Arrays.copyOf(key, key.length + 1);
  }

  /**
   * Returns where a range begins that has this lower bound. Ids compare as UTF-8 bytes; any other
   * JSON value sorts before all ids.
   */
  byte[] lowest(Optional<ListKey> bound, boolean inclusive) {
    byte[] key =
        bound.flatMap(ListKey::id).map(id -> inclusive ? key(id) : keyAfter(id)).orElse(begin);
    return Arrays.compareUnsigned(key, begin) > 0 ? key : begin;
  }

  /** Returns where a range ends; empty if nothing can lie below the bound. */
  Optional<byte[]> highest(Optional<ListKey> bound, boolean inclusive) {
    return bound.isEmpty()
        ? Optional.of(end)
        : bound
            .flatMap(ListKey::id)
            .map(id -> inclusive ? keyAfter(id) : key(id))
            .map(key -> Arrays.compareUnsigned(key, end) < 0 ? key : end);
  }

  AllDocsRow decode(KeyValue row) {
    return isLocal ? listed(local.decode(row)) : live.decode(row);
  }

  /** Returns the row of an id; empty if the list has none. */
  CompletableFuture<Optional<AllDocsRow>> row(ReadTransaction tx, String id) {
    return isLocal
        ? local.row(tx, id).thenApply(row -> row.map(ListSource::listed))
        : live.get(tx, id);
  }

  private static AllDocsRow listed(LocalRow row) {
    return new AllDocsRow(row.id(), row.revision(), 1);
  }

  /**
   * Returns the prefix of the keys of all of an id's bodies, which lie in the order of the list.
   */
  byte[] bodies(String id) {
    return isLocal ? local.body(id) : documents.document(id);
  }

  /** Returns the prefix of the keys of a row's body. */
  byte[] body(AllDocsRow row) {
    return isLocal ? local.body(row.id()) : documents.revision(row.id(), false, row.winner());
  }
}
