package lectus.document.list;

import com.apple.foundationdb.ReadTransaction;
import lectus.database.DatabaseHandle;
import lectus.document.DocumentJson;
import lectus.json.JsonBuffer;
import lectus.revision.RevisionsSubspace;
import lectus.store.Awaiting;

/** Reads the {@code _conflicts} of listed documents, only where there is more than one branch. */
final class ConflictReads {
  private final ReadTransaction tx;
  private final RevisionsSubspace revisions;
  private final boolean wanted;

  ConflictReads(ReadTransaction tx, DatabaseHandle db, boolean wanted) {
    this.tx = tx;
    this.revisions = new RevisionsSubspace(db);
    this.wanted = wanted;
  }

  void append(AllDocsRow row, JsonBuffer out) {
    if (wanted && row.branchCount() > 1) {
      DocumentJson.appendConflicts(out, Awaiting.await(revisions.branches(tx, row.id())));
    }
  }
}
