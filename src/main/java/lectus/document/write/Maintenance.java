package lectus.document.write;

import com.apple.foundationdb.Transaction;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import lectus.database.DatabaseHandle;
import lectus.document.feed.FeedMaintenance;
import lectus.document.feed.FeedMovement;
import lectus.document.index.IndexMaintenance;

/**
 * Adds to planned documents what they change in indexes and stored feeds. All reads of one kind are
 * begun before the first one is awaited.
 */
final class Maintenance {
  private final Transaction tx;
  private final DatabaseHandle db;

  Maintenance(Transaction tx, DatabaseHandle db) {
    this.tx = tx;
    this.db = db;
  }

  List<PlannedDocument> with(List<PlannedDocument> plans) {
    List<PlannedDocument> indexed =
        db.indexes().isEmpty() ? plans : withEntries(new IndexMaintenance(tx, db), plans);
    return db.feeds().isEmpty() ? indexed : withFeeds(new FeedMaintenance(tx, db), indexed);
  }

  private static List<PlannedDocument> withEntries(
      IndexMaintenance indexes, List<PlannedDocument> plans) {
    List<Optional<IndexMaintenance.Started>> started = new ArrayList<>(plans.size());
    for (PlannedDocument plan : plans) {
      started.add(
          plan.replicating().flatMap(it -> indexes.begin(it.id(), it.branches(), it.members())));
    }
    List<PlannedDocument> withEntries = new ArrayList<>(plans.size());
    for (int i = 0; i < plans.size(); i++) {
      PlannedDocument plan = plans.get(i);
      withEntries.add(
          started
              .get(i)
              .map(indexes::changes)
              .map(it -> plan.writing(plan.replicating().orElseThrow().withEntries(it)))
              .orElse(plan));
    }
    return withEntries;
  }

  private static List<PlannedDocument> withFeeds(
      FeedMaintenance feeds, List<PlannedDocument> plans) {
    List<Optional<FeedMaintenance.Started>> started = new ArrayList<>(plans.size());
    for (PlannedDocument plan : plans) {
      started.add(plan.replicating().map(it -> feeds.begin(it.id(), it.branches(), it.members())));
    }
    List<Optional<List<FeedMovement.Moved>>> moved = new ArrayList<>(plans.size());
    started.forEach(edit -> moved.add(edit.map(feeds::move)));
    List<PlannedDocument> withFeeds = new ArrayList<>(plans.size());
    for (int i = 0; i < plans.size(); i++) {
      PlannedDocument plan = plans.get(i);
      withFeeds.add(
          moved
              .get(i)
              .map(FeedMaintenance::changes)
              .map(it -> plan.writing(plan.replicating().orElseThrow().withFeeds(it)))
              .orElse(plan));
    }
    return withFeeds;
  }
}
