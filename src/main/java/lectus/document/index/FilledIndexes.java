package lectus.document.index;

import com.apple.foundationdb.Transaction;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import lectus.changes.ChangeEntry;
import lectus.database.DatabaseHandle;
import lectus.database.IndexesSubspace;
import lectus.database.ShardId;
import lectus.document.alldocs.AllDocsRow;
import lectus.document.job.Filled;
import lectus.document.job.FilledKind;
import lectus.document.job.JobKind;
import lectus.index.StoredIndex;

/** The indexes that lack the documents from before them. */
public final class FilledIndexes implements FilledKind {
  @Override
  public JobKind kind() {
    return JobKind.INDEX;
  }

  @Override
  public Optional<Filled> find(DatabaseHandle db, long number) {
    return db.indexes()
        .numbered(number)
        .filter(it -> !it.isReadable())
        .map(it -> new FilledIndex(db, it));
  }

  private record FilledIndex(DatabaseHandle db, StoredIndex index) implements Filled {
    @Override
    public String definedBy() {
      return index.definition().design();
    }

    @Override
    public long fill(Transaction tx, ShardId shard, List<ChangeEntry> documents) {
      List<AllDocsRow> live = new ArrayList<>(documents.size());
      for (ChangeEntry entry : documents) {
        if (!entry.deleted()) {
          live.add(new AllDocsRow(entry.docId(), entry.winner(), entry.branchCount()));
        }
      }
      long rows = 0;
      for (List<EntryChange> ofOne : new StoredRows(tx, db, List.of(index)).rowsOf(live)) {
        ofOne.forEach(row -> row.write(tx));
        rows += ofOne.size();
      }
      return rows;
    }

    @Override
    public void becomeReadable(Transaction tx) {
      new IndexesSubspace(db.prefix()).put(tx, index.readable());
    }
  }
}
