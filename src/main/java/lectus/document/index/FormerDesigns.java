package lectus.document.index;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import lectus.database.AskedDatabase;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.DatabaseSubspace;
import lectus.document.DocumentId;
import lectus.document.alldocs.AllDocsRow;
import lectus.document.alldocs.AllDocsSubspace;
import lectus.document.design.DescribedIndexes;
import lectus.error.LectusException;
import lectus.index.IndexDefinition;
import lectus.store.Awaiting;
import lectus.store.TransactionRunner;

/**
 * Makes the indexes of design documents that were stored by versions without indexes. It looks when
 * somebody first asks for a database's indexes; no such document can come later.
 */
public final class FormerDesigns {
  /** Design documents that are looked at; more have only been seen in attacks. */
  private static final int MOST_DESIGNS = 1_000;

  private static final int MOST_REMEMBERED = 100_000;

  /** The first id after those of design documents. */
  private static final String BEHIND_DESIGN = "_design0";

  private final Catalogue catalogue;
  private final TransactionRunner transactions;
  private final byte[] root;
  private final Set<DatabaseName> complete = ConcurrentHashMap.newKeySet();

  /**
   * @param root the prefix of the store's keys
   */
  public FormerDesigns(Catalogue catalogue, TransactionRunner transactions, byte[] root) {
    this.catalogue = catalogue;
    this.transactions = transactions;
    this.root = root;
  }

  /**
   * Returns when the database has the indexes that its design documents describe, though perhaps
   * not all documents in them. A database that cannot be written keeps those that it has.
   *
   * @throws LectusException {@code not_found}; what the permit says
   */
  public void makeIndexes(AskedDatabase asked) {
    if (complete.contains(asked.name())) {
      return;
    }
    boolean isComplete =
        transactions.read(tx -> missing(tx, asked.current(tx, catalogue)).isEmpty());
    if (isComplete || isMade(asked.name())) {
      remember(asked.name());
    }
  }

  private boolean isMade(DatabaseName name) {
    try {
      transactions.runIdempotent(tx -> make(tx, catalogue.currentForWrites(tx, name)));
      return true;
    } catch (LectusException unwritable) {
      return false;
    }
  }

  private void remember(DatabaseName name) {
    if (complete.size() >= MOST_REMEMBERED) {
      complete.clear();
    }
    complete.add(name);
  }

  private Void make(Transaction tx, DatabaseHandle db) {
    tx.addReadConflictRange(
        DatabaseSubspace.REVISIONS.key(db.prefix()).string(DocumentId.DESIGN_PREFIX).toBytes(),
        DatabaseSubspace.REVISIONS.key(db.prefix()).string(BEHIND_DESIGN).toBytes());
    IndexListing listing = new IndexListing(tx, db, root);
    missing(tx, db).forEach(listing::change);
    if (listing.finish()) {
      catalogue.moveVersion(tx, db);
    }
    return null;
  }

  /** Returns what design documents describe and the database does not have, by their ids. */
  private static Map<String, List<IndexDefinition>> missing(ReadTransaction tx, DatabaseHandle db) {
    AllDocsSubspace rows = new AllDocsSubspace(db);
    List<KeyValue> designs =
        Awaiting.await(
            tx.snapshot()
                .getRange(rows.key(DocumentId.DESIGN_PREFIX), rows.key(BEHIND_DESIGN), MOST_DESIGNS)
                .asList());
    Map<String, List<IndexDefinition>> missing = new LinkedHashMap<>();
    for (KeyValue each : designs) {
      AllDocsRow row = rows.decode(each);
      List<IndexDefinition> described = DescribedIndexes.stored(tx, db, row.id(), row.winner());
      if (IndexListing.changes(db, row.id(), described)) {
        missing.put(row.id(), described);
      }
    }
    return missing;
  }
}
