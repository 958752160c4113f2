package lectus.audit;

import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.error.LectusException;

/** One life of a database, which must not end during the audit. */
record AuditedDatabase(Catalogue catalogue, DatabaseHandle handle) {
  /**
   * Returns the handle at another version.
   *
   * @throws LectusException {@code not_found} if this life has ended
   */
  DatabaseHandle current(ReadTransaction tx) {
    DatabaseHandle now = catalogue.current(tx, handle.name());
    if (!now.instance().equals(handle.instance())) {
      throw LectusException.notFound("Database does not exist.");
    }
    return now;
  }

  /** As above, in a transaction that writes what belongs to this life. */
  DatabaseHandle currentForWrites(Transaction tx) {
    DatabaseHandle now = current(tx);
    return catalogue.currentForWrites(tx, now.name());
  }

  String place() {
    return Texts.database(handle.name().text());
  }

  String place(String docId) {
    return Texts.document(handle.name().text(), docId);
  }
}
