package lectus.document.feed;

import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import lectus.changes.ChangeEntry;
import lectus.channel.DatabaseFeeds;
import lectus.channel.StoredFeed;
import lectus.database.DatabaseHandle;
import lectus.document.PartsAhead;
import lectus.document.read.SelectedDocuments;
import lectus.revision.EditBranch;
import lectus.revision.RevisionsSubspace;
import lectus.store.Awaiting;

/** Computes what stored feeds should have of documents that are stored. */
public final class ExpectedEntries {
  /** Documents that one thread looks at, at a time. */
  private static final int PART = 128;

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
   * Returns the rows of each of some documents: entries, and of those that a feed cannot take, why.
   *
   * @param documents their entries in the changes index
   */
  public List<List<FeedChange>> of(List<ChangeEntry> documents) {
    PartsAhead<List<List<FeedChange>>> parts = new PartsAhead<>(tx.getExecutor());
    for (int from = 0; from < documents.size(); from += PART) {
      List<ChangeEntry> part = documents.subList(from, Math.min(documents.size(), from + PART));
      parts.add(() -> ofPart(part));
    }
    List<List<FeedChange>> rows = new ArrayList<>(documents.size());
    while (parts.size() > 0) {
      rows.addAll(parts.take());
    }
    return rows;
  }

  /**
   * @param branches null of a document with one leaf
   */
  private record Reading(
      ChangeEntry entry, DocumentLeaves leaves, CompletableFuture<List<EditBranch>> branches) {}

  private List<List<FeedChange>> ofPart(List<ChangeEntry> documents) {
    SelectedDocuments selected = DocumentLeaves.reading(tx, db, DatabaseFeeds.reads(feeds));
    RevisionsSubspace revisions = new RevisionsSubspace(db);
    List<Reading> reading = new ArrayList<>(documents.size());
    for (ChangeEntry entry : documents) {
      DocumentLeaves leaves = new DocumentLeaves(selected, entry.docId());
      leaves.start(winner(entry));
      reading.add(
          new Reading(
              entry,
              leaves,
              entry.branchCount() > 1 ? revisions.branches(tx, entry.docId()) : null));
    }
    return reading.stream().map(this::rows).toList();
  }

  private static EditBranch winner(ChangeEntry entry) {
    return new EditBranch(entry.winner(), entry.deleted(), null, null, null);
  }

  private List<FeedChange> rows(Reading reading) {
    ChangeEntry entry = reading.entry;
    List<EditBranch> branches =
        reading.branches == null ? List.of(winner(entry)) : Awaiting.await(reading.branches);
    branches.forEach(reading.leaves::start);
    List<FeedChange> rows = new ArrayList<>();
    for (StoredFeed feed : feeds) {
      Belonging belonging = Belonging.of(feed, entry.docId(), reading.leaves.of(branches));
      FeedEntriesSubspace entries = new FeedEntriesSubspace(db, feed);
      belonging
          .channels()
          .forEach((channel, standing) -> rows.add(entries.row(channel, entry, standing)));
      if (belonging.refused().isPresent()) {
        rows.add(new FeedStatesSubspace(db, feed).refusal(entry.docId(), belonging.refused()));
      }
    }
    return rows;
  }
}
