package lectus.document.write;

import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import lectus.database.DatabaseHandle;
import lectus.derived.Derived;
import lectus.derived.DerivedRow;
import lectus.derived.EditWork;
import lectus.derived.StoredFeed;
import lectus.derived.StoredIndex;
import lectus.derived.rows.DerivedRows;
import lectus.derived.rows.FeedMaintenance;
import lectus.derived.rows.FeedRows;
import lectus.derived.rows.IndexMaintenance;
import lectus.derived.rows.IndexRows;

/**
 * Adds to the planned documents of one transaction what they change in indexes and stored feeds.
 * All reads of one kind are begun before the first one is awaited.
 */
public final class Maintenance {
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
      PlannedDocument plan, List<DerivedRow> entries, List<FeedMaintenance.Moved> moved) {}

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

  /**
   * Returns documents with their rows in all indexes and stored feeds, whatever they weigh, for a
   * database into which they are brought as they are.
   */
  public static List<DocumentUpdate> complete(
      Transaction tx, DatabaseHandle db, List<DocumentUpdate> updates) {
    if (db.indexes().isEmpty() && db.feeds().isEmpty()) {
      return updates;
    }
    List<DocumentUpdate> complete = new ArrayList<>(updates.size());
    new Maintenance(tx, db, Long.MAX_VALUE)
        .add(
            updates.stream().map(PlannedDocument::of).toList(),
            Long.MAX_VALUE,
            plan -> complete.add(plan.replicating().orElseThrow()));
    return complete;
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
    Optional<List<DerivedRow>> next =
        document.indexed.map(it -> indexes.orElseThrow().next(it, its));
    document.fed.ifPresent(it -> feeds.orElseThrow().decide(it, its));
    Moved moved =
        new Moved(
            document.plan,
            document
                .indexed
                .map(it -> indexes.orElseThrow().changes(it, next.orElseThrow(), its))
                .orElse(List.of()),
            document.fed.map(it -> feeds.orElseThrow().move(it, its)).orElse(List.of()));
    work += its.spent();
    return moved;
  }

  private static long weight(Moved document) {
    long weight = 0;
    for (DerivedRow entry : document.entries) {
      weight += UpdateWriter.weight(entry);
    }
    for (FeedMaintenance.Moved moved : document.moved) {
      weight += moved.bytes();
    }
    return weight;
  }

  private static PlannedDocument complete(Moved document) {
    if (document.entries.isEmpty() && document.moved.isEmpty()) {
      return document.plan;
    }
    List<DerivedRow> rows = new ArrayList<>(document.entries);
    document.moved.forEach(it -> it.addTo(rows));
    return document.plan.writing(document.plan.replicating().orElseThrow().deriving(rows));
  }

  /** Returns the class of a kind: no other one knows them all. */
  public static DerivedRows<?> rows(ReadTransaction tx, DatabaseHandle db, Derived one) {
    return one instanceof StoredIndex index
        ? new IndexRows(tx, db, List.of(index))
        : new FeedRows(tx, db, (StoredFeed) one);
  }
}
