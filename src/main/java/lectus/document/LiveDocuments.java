package lectus.document;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.ReadTransaction;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.database.DatabaseHandle;

/** The live documents of a database, or its design documents. */
final class LiveDocuments implements ListSource {
  /** The first id that sorts behind all of {@code _design/…}. */
  private static final String BEHIND_DESIGN = "_design0";

  private final AllDocsSubspace rows;
  private final DocumentsSubspace documents;
  private final boolean designOnly;

  LiveDocuments(DatabaseHandle db, boolean designOnly) {
    this.rows = new AllDocsSubspace(db);
    this.documents = new DocumentsSubspace(db);
    this.designOnly = designOnly;
  }

  @Override
  public byte[] begin() {
    return designOnly ? rows.key(DocumentId.DESIGN_PREFIX) : rows.begin();
  }

  @Override
  public byte[] end() {
    return designOnly ? rows.key(BEHIND_DESIGN) : rows.end();
  }

  @Override
  public byte[] key(String id) {
    return rows.key(id);
  }

  @Override
  public byte[] keyAfter(String id) {
    return rows.keyAfter(id);
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
