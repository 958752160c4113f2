package lectus.document;

import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.error.LectusException;
import lectus.json.JsonBuffer;
import lectus.store.Reads;
import lectus.store.TransactionRunner;

/**
 * {@code _local/…}: documents that have no history and do not replicate. A revision is {@code 0-}
 * and a number that counts the writes whose clients gave the revision before; no write conflicts.
 */
public final class LocalDocuments {
  private static final String REVISION_HEAD = "0-";

  /** Longs hold all numbers of so many digits. */
  private static final int MOST_DIGITS = 18;

  private final Catalogue catalogue;
  private final TransactionRunner transactions;
  private final DocumentLimits limits;

  public LocalDocuments(
      Catalogue catalogue, TransactionRunner transactions, DocumentLimits limits) {
    this.catalogue = catalogue;
    this.transactions = transactions;
    this.limits = limits;
  }

  /**
   * Appends the document as JSON, without a line feed.
   *
   * @param id with its {@code _local/}
   * @return its revision, {@code 0-1}
   * @throws LectusException {@code not_found}
   */
  public String read(DatabaseName name, String id, JsonBuffer out) {
    int start = out.length();
    return transactions.read(
        tx -> {
          out.truncate(start);
          return read(tx, catalogue.current(tx, name), id, out);
        });
  }

  private static String read(ReadTransaction tx, DatabaseHandle db, String id, JsonBuffer out) {
    LocalDocsSubspace documents = new LocalDocsSubspace(db);
    CompletableFuture<Optional<AllDocsRow>> row = documents.row(tx, id);
    CompletableFuture<StoredBody> body = StoredBody.read(tx, documents.bodies(id));
    AllDocsRow found = Reads.await(row).orElseThrow(LocalDocuments::missing);
    DocumentJson.append(out, id, false, found.winner(), Reads.await(body));
    DocumentJson.close(out);
    return found.winner().toString();
  }

  /**
   * Stores the document whatever is there; {@code "_deleted":true} removes it.
   *
   * @param id with its {@code _local/}
   * @param revision of the query or of If-Match; the body's counts if there is none
   * @return the new revision: one more than given, {@code 0-0} for a deletion
   * @throws LectusException {@code bad_request}, {@code illegal_docid}, {@code document_too_large}
   */
  public String write(DatabaseName name, String id, Optional<String> revision, byte[] json) {
    DocumentId.check(id, limits.idBytes());
    int keyOverhead = DocumentsSubspace.keyOverhead(id, 0);
    LocalDocumentParser.Parsed document =
        LocalDocumentParser.parse(json, limits.json().withKeyOverhead(keyOverhead));
    if (document.deleted()) {
      return delete(name, id);
    }
    long number = revision.or(document::revision).map(LocalDocuments::number).orElse(0L) + 1;
    transactions.run(
        tx -> {
          new LocalDocsSubspace(guarded(tx, name)).put(tx, id, number, document.body());
          return null;
        });
    return REVISION_HEAD + number;
  }

  /**
   * Removes the document.
   *
   * @return {@code 0-0}
   * @throws LectusException {@code not_found}
   */
  public String delete(DatabaseName name, String id) {
    transactions.run(
        tx -> {
          LocalDocsSubspace documents = new LocalDocsSubspace(guarded(tx, name));
          if (Reads.await(documents.row(tx, id)).isEmpty()) {
            throw missing();
          }
          documents.clear(tx, id);
          return null;
        });
    return REVISION_HEAD + 0;
  }

  private DatabaseHandle guarded(Transaction tx, DatabaseName name) {
    DatabaseHandle db = catalogue.current(tx, name);
    catalogue.guard(tx, db);
    return db;
  }

  private static long number(String revision) {
    String digits =
        revision.startsWith(REVISION_HEAD) ? revision.substring(REVISION_HEAD.length()) : "";
    boolean isNumber = !digits.isEmpty() && digits.chars().allMatch(c -> c >= '0' && c <= '9');
    if (!isNumber || digits.length() > MOST_DIGITS) {
      throw LectusException.badRequest("Invalid rev format");
    }
    return Long.parseLong(digits);
  }

  private static LectusException missing() {
    return LectusException.notFound("missing");
  }
}
