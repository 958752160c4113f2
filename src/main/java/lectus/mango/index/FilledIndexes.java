package lectus.mango.index;

import com.apple.foundationdb.Transaction;
import java.util.List;
import java.util.Optional;
import lectus.changes.log.ChangeEntry;
import lectus.database.DatabaseHandle;
import lectus.database.IndexesSubspace;
import lectus.database.ShardId;
import lectus.derived.StoredIndex;
import lectus.document.ReadAhead;
import lectus.document.list.AllDocsRow;
import lectus.jobs.Filled;
import lectus.jobs.FilledKind;
import lectus.jobs.Filling;
import lectus.jobs.JobKind;

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
    public Filling fill(
        Transaction tx, ShardId shard, List<ChangeEntry> documents, ReadAhead ahead) {
      List<ChangeEntry> live = documents.stream().filter(it -> !it.deleted()).toList();
      List<List<IndexRows.Row>> rowsOfEach =
          new StoredRows(tx, db, List.of(index))
              .rowsOf(live.stream().map(FilledIndex::row).toList(), ahead);
      long rows = 0;
      for (List<IndexRows.Row> ofOne : rowsOfEach) {
        ofOne.forEach(row -> row.changes().forEach(change -> change.write(tx)));
        rows += ofOne.stream().filter(row -> row.entry().isPresent()).count();
      }
      int done = rowsOfEach.size();
      return new Filling(
          done == live.size() ? documents.size() : documents.indexOf(live.get(done)), rows);
    }

    private static AllDocsRow row(ChangeEntry entry) {
      return new AllDocsRow(entry.docId(), entry.winner(), entry.branchCount());
    }

    @Override
    public void becomeReadable(Transaction tx) {
      new IndexesSubspace(db.prefix()).put(tx, index.readable());
    }
  }
}
