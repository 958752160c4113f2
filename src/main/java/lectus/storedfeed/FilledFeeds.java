package lectus.storedfeed;

import com.apple.foundationdb.Transaction;
import java.util.List;
import java.util.Optional;
import lectus.changes.log.ChangeEntry;
import lectus.database.DatabaseHandle;
import lectus.database.FeedsSubspace;
import lectus.database.ShardId;
import lectus.derived.StoredFeed;
import lectus.document.ReadAhead;
import lectus.jobs.Filled;
import lectus.jobs.FilledKind;
import lectus.jobs.Filling;
import lectus.jobs.JobKind;

/** The stored feeds that lack the documents from before them. */
public final class FilledFeeds implements FilledKind {
  @Override
  public JobKind kind() {
    return JobKind.FEED;
  }

  @Override
  public Optional<Filled> find(DatabaseHandle db, long number) {
    return db.feeds().all().stream()
        .filter(it -> it.number() == number && !it.isReadable())
        .findFirst()
        .map(it -> new FilledFeed(db, it));
  }

  private record FilledFeed(DatabaseHandle db, StoredFeed feed) implements Filled {
    @Override
    public String definedBy() {
      return "_feeds/" + feed.definition().name();
    }

    @Override
    public Filling fill(
        Transaction tx, ShardId shard, List<ChangeEntry> documents, ReadAhead ahead) {
      List<List<FeedChange>> rowsOfEach =
          new ExpectedEntries(tx, db, List.of(feed)).of(documents, ahead);
      long rows = 0;
      for (List<FeedChange> ofOne : rowsOfEach) {
        ofOne.forEach(row -> row.write(tx, 0));
        rows += ofOne.size();
      }
      return new Filling(rowsOfEach.size(), rows);
    }

    @Override
    public void becomeReadable(Transaction tx) {
      new FeedsSubspace(db.prefix()).put(tx, feed.readable());
    }
  }
}
