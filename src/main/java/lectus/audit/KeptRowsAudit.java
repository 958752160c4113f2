package lectus.audit;

import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import com.apple.foundationdb.tuple.ByteArrayUtil;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Stream;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.database.Generation;
import lectus.database.Sequence;
import lectus.derived.IndexDefinition;
import lectus.derived.StoredFeed;
import lectus.derived.StoredIndex;
import lectus.document.list.AllDocsSubspace;
import lectus.document.write.DescribedIndexes;
import lectus.jobs.ComparedDocuments;
import lectus.jobs.KeptRows;
import lectus.jobs.RowComparison;
import lectus.jobs.WrongRow;
import lectus.mango.index.IndexComparison;
import lectus.mango.index.IndexListing;
import lectus.revision.RevisionsSubspace;
import lectus.store.Awaiting;
import lectus.storedfeed.FeedComparison;
import lectus.tuple.MalformedTupleException;

/**
 * Compares the indexes and the stored feeds of a database with its documents: what each document
 * should have is there, what is there some document should have, and a design document describes
 * each index.
 */
final class KeptRowsAudit {
  private static final int DOCUMENTS_AT_ONCE = 500;

  private final Reading reading;
  private final AuditedDatabase database;
  private final AuditReport report;
  private final byte[] root;

  /**
   * @param root the prefix of the store's keys
   */
  KeptRowsAudit(Reading reading, AuditedDatabase database, AuditReport report, byte[] root) {
    this.root = root.clone();
    this.reading = reading;
    this.database = database;
    this.report = report;
  }

  void run() {
    DatabaseHandle db = database.handle();
    db.indexes().all().forEach(index -> guarded("an index", () -> check(index)));
    checkStrays(
        "something of no index",
        List.of(DatabaseSubspace.INDEX_ENTRIES, DatabaseSubspace.INDEX_STATES),
        now ->
            now.indexes().all().stream()
                .flatMap(it -> IndexComparison.rows(now, it).stream().map(KeptRows::range)));
    db.feeds().all().forEach(feed -> guarded("a stored feed", () -> check(feed)));
    checkStrays(
        "something of no stored feed",
        List.of(
            DatabaseSubspace.FEED_ENTRIES,
            DatabaseSubspace.FEED_DEPARTURES,
            DatabaseSubspace.FEED_STATES),
        now ->
            now.feeds().all().stream()
                .flatMap(it -> FeedComparison.rows(now, it).stream().map(KeptRows::range)));
  }

  private void guarded(String what, Runnable check) {
    try {
      check.run();
    } catch (MalformedTupleException | IllegalArgumentException unreadable) {
      report.add(
          database.place(),
          "documents cannot be compared with " + what + " (" + unreadable.getMessage() + ")");
    }
  }

  private void check(StoredIndex index) {
    if (!reading.<Boolean>read(tx -> isDescribed(tx, index))) {
      IndexDefinition definition = index.definition();
      report.add(
          database.place(),
          "no design document describes the index " + definition.design() + "/" + definition.name(),
          Repair.of(Repair.Step.DERIVED_ROWS, "it is removed", tx -> remove(tx, index)));
    }
    Function<ReadTransaction, Optional<IndexComparison>> current = tx -> comparison(tx, index);
    IndexComparison.rows(database.handle(), index)
        .forEach(rows -> checkRows("A row of an index", rows, current));
    this.<IndexComparison, String>checkDocuments(
        current, (comparison, after) -> comparison.documents(after, DOCUMENTS_AT_ONCE));
  }

  private void check(StoredFeed feed) {
    Function<ReadTransaction, Optional<FeedComparison>> current = tx -> comparison(tx, feed);
    FeedComparison.rows(database.handle(), feed)
        .forEach(rows -> checkRows("A row of a stored feed", rows, current));
    for (Generation generation : database.handle().topology().generations()) {
      generation
          .shards()
          .forEach(
              shard ->
                  this.<FeedComparison, Sequence>checkDocuments(
                      current,
                      (comparison, after) ->
                          comparison.documents(shard, after, DOCUMENTS_AT_ONCE)));
    }
  }

  /** Returns empty if the index is gone. */
  private Optional<IndexComparison> comparison(ReadTransaction tx, StoredIndex index) {
    DatabaseHandle db = database.current(tx);
    return db.indexes()
        .numbered(index.number())
        .filter(it -> it.definition().equals(index.definition()))
        .map(it -> new IndexComparison(tx, db, it));
  }

  /** Returns empty if the feed is gone. */
  private Optional<FeedComparison> comparison(ReadTransaction tx, StoredFeed feed) {
    DatabaseHandle db = database.current(tx);
    return db.feeds().current(feed).map(it -> new FeedComparison(tx, db, it));
  }

  private boolean isDescribed(ReadTransaction tx, StoredIndex index) {
    DatabaseHandle db = database.current(tx);
    String design = index.definition().design();
    return db.indexes().numbered(index.number()).isEmpty()
        || Awaiting.await(new AllDocsSubspace(db).get(tx, design))
            .map(row -> DescribedIndexes.stored(tx, db, design, row.winner()))
            .orElse(List.of())
            .contains(index.definition());
  }

  private void remove(Transaction tx, StoredIndex index) {
    DatabaseHandle db = database.currentForWrites(tx);
    new RevisionsSubspace(db).conflictWithEdits(tx, index.definition().design());
    if (!isDescribed(tx, index)) {
      new IndexListing(tx, db, root).remove(index);
      database.catalogue().moveVersion(tx, db);
    }
  }

  /**
   * Looks whether documents have their rows.
   *
   * @param current the comparison; empty if what the rows belong to is gone
   * @param documents compares the documents behind a place
   */
  private <C extends RowComparison, P> void checkDocuments(
      Function<ReadTransaction, Optional<C>> current,
      BiFunction<C, Optional<P>, ComparedDocuments<P>> documents) {
    Optional<P> last = Optional.empty();
    do {
      Optional<P> after = last;
      ComparedDocuments<P> part =
          reading.read(
              tx ->
                  current
                      .apply(tx)
                      .map(it -> documents.apply(it, after))
                      .orElse(ComparedDocuments.none()));
      part.wrong().forEach(it -> report(current, it));
      last = part.last();
    } while (last.isPresent());
  }

  /** Looks whether rows have their documents. */
  private <C extends RowComparison> void checkRows(
      String what, KeptRows<C> rows, Function<ReadTransaction, Optional<C>> current) {
    new RowsCheck(reading, report, database.place())
        .derived()
        .each(
            what,
            rows.range(),
            rows.decoder(),
            row ->
                reading
                    .read(tx -> current.apply(tx).flatMap(it -> rows.wrong().apply(it, row)))
                    .ifPresent(it -> report(current, it)));
  }

  private void report(
      Function<ReadTransaction, ? extends Optional<? extends RowComparison>> current,
      WrongRow wrong) {
    report.add(
        database.place(),
        wrong.problem(),
        Repair.of(
            Repair.Step.DERIVED_ROWS,
            "its row is made anew from the document",
            tx -> {
              DatabaseHandle db = database.currentForWrites(tx);
              new RevisionsSubspace(db).conflictWithEdits(tx, wrong.docId());
              current.apply(tx).ifPresent(it -> mend(tx, it, wrong));
            }));
  }

  private static void mend(Transaction tx, RowComparison comparison, WrongRow wrong) {
    comparison
        .expected(wrong.docId(), wrong.key())
        .ifPresentOrElse(value -> tx.set(wrong.key(), value), () -> tx.clear(wrong.key()));
  }

  /**
   * Reports rows of no index and no feed of the database, at one version.
   *
   * @param what names such a row
   * @param known the ranges of those that the database has
   */
  private void checkStrays(
      String what,
      List<DatabaseSubspace> subspaces,
      Function<DatabaseHandle, Stream<Range>> known) {
    AuditReport strays =
        reading.read(
            tx -> {
              DatabaseHandle now = database.current(tx);
              AuditReport part = report.part();
              RowsCheck rows =
                  new RowsCheck(Reading.Snapshot.of(tx), part, database.place()).derived();
              for (DatabaseSubspace subspace : subspaces) {
                Range whole = subspace.range(now.prefix());
                rows.others(whole, known.apply(now).filter(it -> isIn(whole, it)).toList(), what);
              }
              return part;
            });
    report.takeOver(strays);
  }

  private static boolean isIn(Range whole, Range part) {
    return ByteArrayUtil.compareUnsigned(whole.begin, part.begin) <= 0
        && ByteArrayUtil.compareUnsigned(part.end, whole.end) <= 0;
  }
}
