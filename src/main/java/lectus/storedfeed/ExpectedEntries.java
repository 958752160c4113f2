package lectus.storedfeed;

import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.LongAdder;
import lectus.changes.log.ChangeEntry;
import lectus.database.DatabaseHandle;
import lectus.derived.DatabaseFeeds;
import lectus.derived.DocumentChannels;
import lectus.derived.StoredFeed;
import lectus.document.ReadAhead;
import lectus.document.read.DocumentsAhead;
import lectus.document.read.SelectedDocuments;
import lectus.mango.selector.EditWork;
import lectus.revision.EditBranch;
import lectus.revision.RevisionsSubspace;
import lectus.store.Awaiting;

/** Computes what stored feeds should have of documents that are stored. */
public final class ExpectedEntries {
  private final ReadTransaction tx;
  private final DatabaseHandle db;
  private final List<StoredFeed> feeds;

  /**
   * @param db with the feeds or without them
   */
  public ExpectedEntries(ReadTransaction tx, DatabaseHandle db, List<StoredFeed> feeds) {
    this.tx = tx.snapshot();
    this.db = db;
    this.feeds = feeds;
  }

  /**
   * Returns the rows of each of the first documents, of as many as one transaction should read:
   * entries, and of those that a feed cannot take, why. Rows that an edit may have left that
   * decided otherwise are cleared.
   *
   * @param documents their entries in the changes index
   */
  public List<List<FeedChange>> of(List<ChangeEntry> documents) {
    return of(documents, DocumentsAhead.learning());
  }

  /** The same for a page of a job, whose documents are like those of the page before. */
  List<List<FeedChange>> of(List<ChangeEntry> documents, ReadAhead ahead) {
    return new DocumentsAhead<>(tx.getExecutor(), new Entries(), ahead).of(documents);
  }

  /**
   * @param branches null of a document with one leaf
   */
  private record Reading(
      ChangeEntry entry, DocumentLeaves leaves, CompletableFuture<List<EditBranch>> branches) {
    List<EditBranch> all() {
      return branches == null ? List.of(winner(entry)) : Awaiting.await(branches);
    }
  }

  private final class Entries
      implements DocumentsAhead.Work<ChangeEntry, Reading, List<FeedChange>> {
    private final SelectedDocuments selected =
        DocumentLeaves.reading(tx, db, DatabaseFeeds.reads(feeds));
    private final RevisionsSubspace revisions = new RevisionsSubspace(db);
    private final LongAdder bytesOfBranches = new LongAdder();

    @Override
    public Reading start(ChangeEntry entry) {
      DocumentLeaves leaves = new DocumentLeaves(selected, entry.docId());
      leaves.start(winner(entry));
      return new Reading(entry, leaves, entry.branchCount() > 1 ? branches(entry.docId()) : null);
    }

    /** Thousands of branches with long histories take more than their leaves. */
    private CompletableFuture<List<EditBranch>> branches(String id) {
      return revisions
          .branches(tx, id)
          .thenApply(
              branches -> {
                branches.forEach(it -> bytesOfBranches.add(revisions.sizeBound(id, it)));
                return branches;
              });
    }

    @Override
    public void goOn(Reading reading) {
      reading.all().forEach(reading.leaves::start);
    }

    @Override
    public List<FeedChange> finish(Reading reading) {
      return rows(reading);
    }

    @Override
    public long bytesRead() {
      return selected.bytesArrived() + bytesOfBranches.sum();
    }

    @Override
    public long sizeOf(List<FeedChange> rows) {
      return rows.stream().mapToLong(FeedChange::bytes).sum();
    }
  }

  /** Whether the rows of a document follow from it alone: none is cleared. */
  static boolean areCertain(List<FeedChange> rows) {
    return rows.stream().allMatch(row -> row.value().isPresent());
  }

  private static EditBranch winner(ChangeEntry entry) {
    return new EditBranch(entry.winner(), entry.deleted(), null, null, null);
  }

  private List<FeedChange> rows(Reading reading) {
    ChangeEntry entry = reading.entry;
    List<EditBranch> branches = reading.all();
    List<FeedChange> rows = new ArrayList<>();
    EditWork work = new EditWork(entry.docId());
    for (StoredFeed feed : feeds) {
      Belonging belonging = Belonging.of(feed, reading.leaves.of(branches), work);
      FeedEntriesSubspace entries = new FeedEntriesSubspace(db, feed);
      FeedStatesSubspace states = new FeedStatesSubspace(db, feed);
      belonging
          .channels()
          .forEach((channel, standing) -> rows.add(entries.row(channel, entry, standing)));
      if (belonging.refused().isPresent()) {
        rows.add(states.refusal(entry.docId(), belonging.refused()));
      }
      if (!belonging.isCertain()) {
        rows.add(
            belonging.refused().isPresent()
                ? entries.clearing(DocumentChannels.ONLY, entry.sequence())
                : states.refusal(entry.docId(), Optional.empty()));
      }
    }
    return rows;
  }
}
