package lectus.document.list;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.ReadTransaction;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.database.DatabaseHandle;
import lectus.database.Partition;
import lectus.document.DocumentId;
import lectus.document.DocumentsSubspace;
import lectus.document.list.AllDocsSubspace.AllDocsRow;

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
