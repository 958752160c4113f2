package lectus.document.write;

import com.apple.foundationdb.Transaction;
import java.util.ArrayList;
import java.util.List;
import lectus.changes.PurgesSubspace;
import lectus.database.DatabaseHandle;

/**
 * Remembers the purges of one transaction, and forgets earlier ones beyond the database's limit.
 */
final class PurgeHistory {
  /** A row's key, what its value has beside id and leaves, and the range of the rows forgotten. */
  private static final int ROW_BYTES = 300;

  private static final int BYTES_PER_CHARACTER = 3;

  private final Transaction tx;
  private final PurgesSubspace purges;
  private final int most;
  private final boolean isFirst;

  PurgeHistory(Transaction tx, DatabaseHandle db) {
    this.tx = tx;
    this.purges = new PurgesSubspace(db);
    this.isFirst = !db.mayHavePurges();
    this.most =
        (int) Math.min(db.configuration().purgedInfosLimit(), (long) PurgesSubspace.MOST_ROWS);
  }

  /** Returns an upper bound of what {@link #write} adds to the transaction, in bytes. */
  long weight(DocumentUpdate update) {
    return update.purged().isEmpty()
        ? 0
        : ROW_BYTES
            + (long) BYTES_PER_CHARACTER * update.id().length()
            + PurgesSubspace.sizeOf(update.purged());
  }

  /**
   * Writes the rows of those updates that purge something.
   *
   * @param first number of the first update in the transaction
   * @return whether the database's handle said that there are none
   */
  boolean write(List<DocumentUpdate> updates, int first) {
    List<Integer> purging = new ArrayList<>(0);
    for (int i = 0; i < updates.size(); i++) {
      if (!updates.get(i).purged().isEmpty()) {
        purging.add(i);
      }
    }
    if (!purging.isEmpty()) {
      int kept = Math.min(most, purging.size());
      purges.keep(tx, most - kept);
      for (int i : purging.subList(purging.size() - kept, purging.size())) {
        purges.insert(tx, first + i, updates.get(i).id(), updates.get(i).purged());
      }
    }
    return isFirst && !purging.isEmpty();
  }
}
