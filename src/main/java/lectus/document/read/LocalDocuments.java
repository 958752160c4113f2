package lectus.document.read;

import com.apple.foundationdb.ReadTransaction;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.DatabaseRequest;
import lectus.document.DocumentJson;
import lectus.document.StoredBody;
import lectus.document.edit.LocalEdit;
import lectus.document.read.LocalDocsSubspace.LocalRow;
import lectus.error.LectusException;
import lectus.json.JsonBuffer;
import lectus.store.Awaiting;
import lectus.store.TransactionRunner;

/**
 * {@code _local/…}: documents that have no history and do not replicate. A revision is {@code 0-}
 * and a number, which is one more than the number that the client gave. Writes never conflict. They
 * share transactions with the writes of other documents.
 */
public final class LocalDocuments {
  private final Catalogue catalogue;
  private final TransactionRunner transactions;

  public LocalDocuments(Catalogue catalogue, TransactionRunner transactions) {
    this.catalogue = catalogue;
    this.transactions = transactions;
  }

  /**
   * Appends the document as JSON, without a line feed.
   *
   * @param id with its {@code _local/}
   * @return its revision, {@code 0-1}
   * @throws LectusException {@code not_found}
   */
  public String read(DatabaseRequest asked, String id, JsonBuffer out) {
    int start = out.length();
    return transactions.read(
        tx -> {
          out.truncate(start);
          return read(tx, asked.current(tx, catalogue), id, out);
        });
  }

  /**
   * Adds {@code _revisions} to a document that was read. It lists the current revision alone,
   * because local documents keep no history.
   */
  public static void appendRevisions(JsonBuffer document, String revision) {
    String number = revision.substring(revision.indexOf('-') + 1);
    document.truncate(document.length() - 1);
    document.ascii(",\"_revisions\":{\"start\":0,\"ids\":[").string(number).ascii("]}}");
  }

  private static String read(ReadTransaction tx, DatabaseHandle db, String id, JsonBuffer out) {
    LocalDocsSubspace documents = new LocalDocsSubspace(db);
    CompletableFuture<Optional<LocalRow>> row = documents.row(tx, id);
    CompletableFuture<StoredBody> body = StoredBody.read(tx, documents.body(id));
    LocalRow found = Awaiting.await(row).orElseThrow(LocalDocuments::missing);
    DocumentJson.append(out, id, false, found.revision(), Awaiting.await(body));
    DocumentJson.close(out);
    return found.revision().toString();
  }

  /**
   * Removes the document.
   *
   * @return {@code 0-0}
   * @throws LectusException {@code not_found}
   */
  public String delete(DatabaseName name, String id) {
    transactions.write(
        tx -> {
          LocalDocsSubspace documents = new LocalDocsSubspace(catalogue.currentForWrites(tx, name));
          if (Awaiting.await(documents.row(tx, id)).isEmpty()) {
            throw missing();
          }
          documents.remove(tx, id);
        });
    return LocalEdit.NO_REVISION;
  }

  private static LectusException missing() {
    return LectusException.notFound("missing");
  }
}
