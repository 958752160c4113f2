package lectus.document.upgrade;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import lectus.audit.AuditListener;
import lectus.audit.AuditReport;
import lectus.audit.StoreAudit;
import lectus.database.AskedDatabase;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.document.read.DocumentQuery;
import lectus.document.read.DocumentReader;
import lectus.document.read.HotDocuments;
import lectus.document.testing.TestDatabase;
import lectus.json.JsonBuffer;
import lectus.revision.RevisionId;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;

/** The database {@code db} of the first format, on a store that tests upgrade. */
final class OldDatabase {
  /** A hash of sixteen bytes that the first format stored as a string. */
  static final String SIXTEEN = "0123456789abcdef";

  /** The same bytes as hex digits. */
  static final String HEX_OF_SIXTEEN = "30313233343536373839616263646566";

  /** The body of a design document that asks for validation. */
  static final String VALIDATES = "{\"validate_doc_update\":\"function () {}\"}";

  final Store store;

  /** Writes like the old server. */
  final FirstFormat written;

  /** The database as known to a server that starts after the old one has written. */
  final TestDatabase known;

  private OldDatabase(Store store, FirstFormat written) {
    this.store = store;
    this.written = written;
    this.known = TestDatabase.open(store, "db");
  }

  static OldDatabase create(Store store) {
    return new OldDatabase(store, new FirstFormat(TestDatabase.create(store)));
  }

  /** Returns the same database, as known to a server that starts now. */
  OldDatabase reopened() {
    return new OldDatabase(store, written);
  }

  /** Returns an upgrade by a server on this store, with which others may interfere. */
  static StoreUpgrade upgradeOf(Store store) {
    TransactionRunner transactions = new TransactionRunner(store, TransactionLimits.DEFAULT);
    Catalogue catalogue = new Catalogue(store, transactions, InstantSource.system());
    return new StoreUpgrade(store, catalogue, transactions);
  }

  /** Runs an upgrade, which must upgrade this database. */
  void upgrade() {
    upgradeOf(store).run();
    assertThat(handle().isCurrent()).isTrue();
  }

  DatabaseHandle handle() {
    return known.catalogue.open(known.name);
  }

  AuditReport report() {
    return new StoreAudit(store, AuditListener.SILENT).run();
  }

  /** Returns the JSON of a revision. */
  String read(String id, String rev) {
    DocumentQuery options =
        new DocumentQuery(
            Optional.of(RevisionId.of(rev)), false, false, false, false, false, List.of());
    JsonBuffer out = new JsonBuffer(64);
    new DocumentReader(known.catalogue, known.transactions, new HotDocuments(0))
        .read(AskedDatabase.byServer(known.name), id, options, out);
    return out.toString();
  }

  /** Returns the key of a database's format, a field that the first version does not know. */
  static byte[] formatKey(DatabaseHandle handle) {
    return DatabaseSubspace.CONFIG.key(handle.prefix()).string("format").toBytes();
  }
}
