package lectus.mango.index;

import com.apple.foundationdb.Transaction;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.database.IndexesSubspace;
import lectus.derived.IndexDefinition;
import lectus.derived.IndexLimits;
import lectus.derived.StoredIndex;
import lectus.jobs.FillingJobs;
import lectus.jobs.JobKind;

/**
 * Adds and removes indexes, in the transaction that writes their design documents. A new index of a
 * database with few documents has them at once; any other is built in the background.
 */
public final class IndexListing {
  /** Number of documents that a new index has at once. */
  static final int MAX_AT_ONCE = 200;

  /** The same for the size of all entries, in bytes. */
  private static final long MAX_BYTES_AT_ONCE = 500_000;

  private final Transaction tx;
  private final DatabaseHandle db;
  private final IndexesSubspace indexes;
  private final IndexStatesSubspace states;
  private final FillingJobs jobs;
  private final List<StoredIndex> kept;
  private final List<StoredIndex> added = new ArrayList<>();
  private boolean isChanged;

  /**
   * @param root the prefix of the store's keys
   */
  public IndexListing(Transaction tx, DatabaseHandle db, byte[] root) {
    this.tx = tx;
    this.db = db;
    this.indexes = new IndexesSubspace(db.prefix());
    this.states = new IndexStatesSubspace(db);
    this.jobs = new FillingJobs(root);
    this.kept = new ArrayList<>(db.indexes().all());
  }

  /** Whether a design document that describes these indexes changes the database's. */
  public static boolean changes(
      DatabaseHandle db, String design, List<IndexDefinition> definitions) {
    List<IndexDefinition> former =
        db.indexes().of(design).stream().map(StoredIndex::definition).toList();
    return !(former.size() == definitions.size() && former.containsAll(definitions));
  }

  /** Makes these the indexes of a design document. */
  public void change(String design, List<IndexDefinition> definitions) {
    for (StoredIndex former : db.indexes().of(design)) {
      if (!definitions.contains(former.definition())) {
        remove(former);
      }
    }
    List<IndexDefinition> former =
        db.indexes().of(design).stream().map(StoredIndex::definition).toList();
    for (IndexDefinition definition : definitions) {
      if (!former.contains(definition)) {
        add(definition);
      }
    }
  }

  /** No write can still bring an entry: all conflict with the change of the version key. */
  public void remove(StoredIndex index) {
    kept.remove(index);
    new IndexEntriesSubspace(db, index).clear(tx);
    indexes.clear(tx, index.number());
    states.clear(tx, index.number());
    jobs.end(tx, db, JobKind.INDEX, index.number());
    isChanged = true;
  }

  /** Beyond the limit, which only a replicator can reach, a definition stays one. */
  private void add(IndexDefinition definition) {
    if (kept.size() + added.size() < IndexLimits.MAX_INDEXES) {
      added.add(new StoredIndex(nextNumber(), definition, false));
      isChanged = true;
    }
  }

  private long nextNumber() {
    return indexes.nextNumber(tx, Math.max(highest(db.indexes().all()), highest(added)));
  }

  private static long highest(List<StoredIndex> some) {
    return some.stream().mapToLong(StoredIndex::number).max().orElse(0);
  }

  /**
   * Completes the changes, after all documents of the transaction are written.
   *
   * @return whether the database's handle has changed
   */
  public boolean finish() {
    if (!added.isEmpty()) {
      boolean isFilled = fill();
      for (StoredIndex index : added) {
        indexes.put(tx, isFilled ? index.readable() : index);
        if (!isFilled) {
          jobs.begin(tx, db, JobKind.INDEX, index.number());
        }
      }
    }
    return isChanged;
  }

  /** Whether the new indexes have all documents. Concurrent writers conflict with it. */
  private boolean fill() {
    StoredRows.Page page = new StoredRows(tx, db, added).read(Optional.empty(), MAX_AT_ONCE + 1);
    List<EntryChange> rows = page.rows();
    long bytes = rows.stream().mapToLong(EntryChange::bytes).sum();
    if (!page.isLast() || bytes > MAX_BYTES_AT_ONCE) {
      return false;
    }
    tx.addReadConflictRange(
        DatabaseSubspace.REVISIONS.range(db.prefix()).begin,
        DatabaseSubspace.REVISIONS.range(db.prefix()).end);
    rows.forEach(row -> row.write(tx));
    return true;
  }
}
