package lectus.document.write;

import com.apple.foundationdb.Transaction;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import lectus.database.DatabaseHandle;
import lectus.mango.index.EntryChange;
import lectus.mango.index.IndexMaintenance;
import lectus.mango.index.IndexRows;
import lectus.mango.selector.EditWork;
import lectus.storedfeed.FeedChange;
import lectus.storedfeed.FeedDelta;
import lectus.storedfeed.FeedMaintenance;

/**
 * Adds to the planned documents of one transaction what they change in indexes and stored feeds.
 * All reads of one kind are begun before the first one is awaited.
 */
final class Maintenance {
  private final long mostWork;
  private final Optional<IndexMaintenance> indexes;
  private final Optional<FeedMaintenance> feeds;
  private long work;

  /**
   * @param mostWork of selectors, after which no further document is looked at
   */
  Maintenance(Transaction tx, DatabaseHandle db, long mostWork) {
    this.mostWork = mostWork;
    this.indexes =
        db.indexes().isEmpty() ? Optional.empty() : Optional.of(new IndexMaintenance(tx, db));
    this.feeds = db.feeds().isEmpty() ? Optional.empty() : Optional.of(new FeedMaintenance(tx, db));
  }

  /** A document whose reads have begun. */
  private record Begun(
      PlannedDocument plan,
      Optional<IndexMaintenance.Started> indexed,
      Optional<FeedMaintenance.Started> fed) {}

  /** A document of which only what had left stored feeds is still being read. */
  private record Moved(
      PlannedDocument plan,
      Optional<List<EntryChange>> entries,
      Optional<List<FeedDelta.Moved>> moved) {}

  /** Whether the selectors have had as much work as a transaction should take. */
  boolean isSpent() {
    return work >= mostWork;
  }

  /** Returns the bytes of keys and values read so far. */
  long bytesRead() {
    return indexes.map(IndexMaintenance::bytesRead).orElse(0L)
        + feeds.map(FeedMaintenance::bytesRead).orElse(0L);
  }

  /**
   * Completes documents in their order, until one is not taken, their rows fill the room, or the
   * selectors have had enough work.
   *
   * @param room what the rows may weigh; the first document may exceed it
   * @param taking returns whether it took the document
   */
  void add(List<PlannedDocument> plans, long room, Predicate<PlannedDocument> taking) {
    List<Begun> begun = new ArrayList<>(plans.size());
    plans.forEach(plan -> begun.add(begin(plan)));
    List<Moved> moved = new ArrayList<>(plans.size());
    long weight = 0;
    for (Begun each : begun) {
      if (!moved.isEmpty() && (isSpent() || weight > room)) {
        break;
      }
      Moved next = move(each);
      weight += weight(next);
      moved.add(next);
    }
    for (Moved each : moved) {
      if (!taking.test(complete(each))) {
        return;
      }
    }
  }

  private Begun begin(PlannedDocument plan) {
    return new Begun(
        plan,
        indexes.flatMap(
            all ->
                plan.replicating().flatMap(it -> all.begin(it.id(), it.branches(), it.members()))),
        feeds.flatMap(
            all -> plan.replicating().map(it -> all.begin(it.id(), it.branches(), it.members()))));
  }

  /** What the document will be comes first: of what it was, doubts do no harm. */
  private Moved move(Begun document) {
    EditWork its = new EditWork(document.plan.edits().id());
    Optional<List<IndexRows.Row>> next =
        document.indexed.map(it -> indexes.orElseThrow().next(it, its));
    document.fed.ifPresent(it -> feeds.orElseThrow().decide(it, its));
    Moved moved =
        new Moved(
            document.plan,
            document.indexed.map(it -> indexes.orElseThrow().changes(it, next.orElseThrow(), its)),
            document.fed.map(it -> feeds.orElseThrow().move(it, its)));
    work += its.spent();
    return moved;
  }

  private static long weight(Moved document) {
    long weight =
        document.entries.stream().flatMap(List::stream).mapToLong(UpdateWriter::weight).sum();
    return weight
        + document.moved.stream().flatMap(List::stream).mapToLong(FeedDelta.Moved::bytes).sum();
  }

  private static PlannedDocument complete(Moved document) {
    if (document.entries.isEmpty() && document.moved.isEmpty()) {
      return document.plan;
    }
    DocumentUpdate update = document.plan.replicating().orElseThrow();
    List<FeedChange> fed = document.moved.map(FeedMaintenance::changes).orElse(update.feeds());
    return document.plan.writing(
        update.withEntries(document.entries.orElse(update.entries())).withFeeds(fed));
  }
}
