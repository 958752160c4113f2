package lectus.document.list;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.ReadTransaction;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.database.DatabaseHandle;
import lectus.document.list.AllDocsSubspace.AllDocsRow;
import lectus.document.list.LocalDocsSubspace.LocalRow;

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
