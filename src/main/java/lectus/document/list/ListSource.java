package lectus.document.list;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.ReadTransaction;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.database.DatabaseHandle;
import lectus.database.Partition;
import lectus.document.DocumentId;
import lectus.document.DocumentsSubspace;
import lectus.document.list.AllDocsSubspace.AllDocsRow;
import lectus.document.list.LocalDocsSubspace.LocalRow;

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

  /** The local documents of a database. Each has exactly one branch. */
  final class LocalListing implements ListSource {
    private final LocalDocsSubspace documents;

    LocalListing(DatabaseHandle db) {
      this.documents = new LocalDocsSubspace(db);
    }

    @Override
    public byte[] begin() {
      return documents.begin();
    }

    @Override
    public byte[] end() {
      return documents.end();
    }

    @Override
    public byte[] key(String id) {
      return documents.key(id);
    }

    @Override
    public AllDocsRow decode(KeyValue row) {
      return listed(documents.decode(row));
    }

    @Override
    public CompletableFuture<Optional<AllDocsRow>> row(ReadTransaction tx, String id) {
      return documents.row(tx, id).thenApply(row -> row.map(LocalListing::listed));
    }

    @Override
    public byte[] bodies(String id) {
      return documents.body(id);
    }

    @Override
    public byte[] body(AllDocsRow row) {
      return documents.body(row.id());
    }

    private static AllDocsRow listed(LocalRow row) {
      return new AllDocsRow(row.id(), row.revision(), 1);
    }
  }

  /**
   * The live documents of a database: all of them, its design documents, or those of one partition.
   */
  final class LiveDocuments implements ListSource {
    /** The first id that sorts after every {@code _design/…}. */
    private static final String BEHIND_DESIGN = "_design0";

    private final AllDocsSubspace rows;
    private final DocumentsSubspace documents;
    private final byte[] begin;
    private final byte[] end;

    private LiveDocuments(DatabaseHandle db, AllDocsSubspace rows, byte[] begin, byte[] end) {
      this.rows = rows;
      this.documents = new DocumentsSubspace(db);
      this.begin = begin;
      this.end = end;
    }

    static LiveDocuments all(DatabaseHandle db) {
      AllDocsSubspace rows = new AllDocsSubspace(db);
      return new LiveDocuments(db, rows, rows.begin(), rows.end());
    }

    static LiveDocuments design(DatabaseHandle db) {
      return between(db, DocumentId.DESIGN_PREFIX, BEHIND_DESIGN);
    }

    static LiveDocuments of(DatabaseHandle db, Partition partition) {
      return between(db, partition.firstId(), partition.endId());
    }

    private static LiveDocuments between(DatabaseHandle db, String firstId, String endId) {
      AllDocsSubspace rows = new AllDocsSubspace(db);
      return new LiveDocuments(db, rows, rows.key(firstId), rows.key(endId));
    }

    @Override
    public byte[] begin() {
      return begin;
    }

    @Override
    public byte[] end() {
      return end;
    }

    @Override
    public byte[] key(String id) {
      return rows.key(id);
    }

    @Override
    public AllDocsRow decode(KeyValue row) {
      return rows.decode(row);
    }

    @Override
    public CompletableFuture<Optional<AllDocsRow>> row(ReadTransaction tx, String id) {
      return rows.get(tx, id);
    }

    @Override
    public byte[] bodies(String id) {
      return documents.document(id);
    }

    @Override
    public byte[] body(AllDocsRow row) {
      return documents.revision(row.id(), false, row.winner());
    }
  }
}
