package lectus.derived.rows;

import com.apple.foundationdb.StreamingMode;
import com.apple.foundationdb.Transaction;
import java.util.ArrayList;
import java.util.List;
import lectus.changes.log.ChangesSubspace.ChangeEntry;
import lectus.database.DatabaseHandle;
import lectus.database.DerivedSubspace;
import lectus.derived.IndexDefinition;
import lectus.derived.StoredIndex;
import lectus.document.read.AllDocsSubspace;
import lectus.document.read.AllDocsSubspace.AllDocsRow;
import lectus.store.Awaiting;

/** Adds and removes indexes, in the transaction that writes their design documents. */
public final class IndexListing {
  private final Transaction tx;
  private final DatabaseHandle db;
  private final FillingJobs jobs;
  private final List<StoredIndex> kept;
  private final List<StoredIndex> added = new ArrayList<>();
  private boolean isChanged;

  public IndexListing(Transaction tx, DatabaseHandle db, byte[] root) {
    this.tx = tx;
    this.db = db;
    this.jobs = new FillingJobs(root);
    this.kept = new ArrayList<>(db.indexes().all());
  }

  /** Whether a design document that describes these indexes changes the database's. */
  public static boolean changes(
      DatabaseHandle db, String design, List<IndexDefinition> definitions) {
    List<IndexDefinition> former = definitions(db, design);
    return !(former.size() == definitions.size() && former.containsAll(definitions));
  }

  private static List<IndexDefinition> definitions(DatabaseHandle db, String design) {
    return db.indexes().definedBy(design).stream().map(StoredIndex::definition).toList();
  }

  /**
   * Makes these the indexes of a design document. Beyond the limit, which only a replicator can
   * reach, a definition stays one.
   */
  public void change(String design, List<IndexDefinition> definitions) {
    for (StoredIndex former : db.indexes().definedBy(design)) {
      if (!definitions.contains(former.definition())) {
        kept.remove(former);
        jobs.remove(tx, db, former);
        isChanged = true;
      }
    }
    List<IndexDefinition> former = definitions(db, design);
    for (IndexDefinition definition : definitions) {
      boolean isFull = kept.size() + added.size() >= IndexDefinition.MAX_INDEXES;
      if (!former.contains(definition) && !isFull) {
        long number = new DerivedSubspace(db.prefix()).nextNumber(tx);
        added.add(new StoredIndex(number, definition, false));
        isChanged = true;
      }
    }
  }

  /**
   * Completes the changes, after all documents of the transaction are written.
   *
   * @return whether the database's handle has changed
   */
  public boolean finish() {
    if (!added.isEmpty()) {
      jobs.define(tx, db, new IndexRows(tx, db, added), firstDocuments());
    }
    return isChanged;
  }

  /** The transaction's own documents are among them, which the changes index does not show yet. */
  private List<ChangeEntry> firstDocuments() {
    AllDocsSubspace allDocs = new AllDocsSubspace(db);
    List<ChangeEntry> documents = new ArrayList<>();
    Awaiting.await(
            tx.snapshot()
                .getRange(
                    allDocs.begin(),
                    allDocs.end(),
                    FillingJobs.MAX_AT_ONCE + 1,
                    false,
                    StreamingMode.WANT_ALL)
                .asList())
        .forEach(
            row -> {
              AllDocsRow document = allDocs.decode(row);
              documents.add(
                  new ChangeEntry(
                      null, document.id(), document.winner(), false, document.branchCount()));
            });
    return documents;
  }
}
