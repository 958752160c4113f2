package lectus.audit;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.tuple.ByteArrayUtil;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Stream;
import lectus.channel.StoredFeed;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.database.Generation;
import lectus.database.Sequence;
import lectus.document.alldocs.AllDocsSubspace;
import lectus.document.design.DescribedIndexes;
import lectus.document.feed.FeedComparison;
import lectus.document.index.IndexComparison;
import lectus.document.index.IndexStatesSubspace;
import lectus.document.job.ComparedDocuments;
import lectus.document.job.WrongRow;
import lectus.index.IndexDefinition;
import lectus.index.StoredIndex;
import lectus.store.Awaiting;
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

  KeptRowsAudit(Reading reading, AuditedDatabase database, AuditReport report) {
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
                .flatMap(
                    it ->
                        Stream.concat(
                            new IndexStatesSubspace(now).ranges(it.number()).stream(),
                            Stream.of(IndexComparison.entries(now, it)))));
    db.feeds().all().forEach(feed -> guarded("a stored feed", () -> check(feed)));
    checkStrays(
        "something of no stored feed",
        List.of(
            DatabaseSubspace.FEED_ENTRIES,
            DatabaseSubspace.FEED_DEPARTURES,
            DatabaseSubspace.FEED_STATES),
        now ->
            now.feeds().all().stream()
                .flatMap(it -> FeedComparison.rows(now, it).keySet().stream()));
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
          "no design document describes the index "
              + definition.design()
              + "/"
              + definition.name());
    }
    Function<ReadTransaction, Optional<IndexComparison>> current = tx -> comparison(tx, index);
    this.<IndexComparison, String>checkDocuments(
        current, (comparison, after) -> comparison.documents(after, DOCUMENTS_AT_ONCE));
    IndexComparison.rows(database.handle(), index)
        .forEach((range, wrong) -> checkRows("A row of an index", range, current, wrong));
  }

  private void check(StoredFeed feed) {
    Function<ReadTransaction, Optional<FeedComparison>> current = tx -> comparison(tx, feed);
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
    FeedComparison.rows(database.handle(), feed)
        .forEach((range, wrong) -> checkRows("A row of a stored feed", range, current, wrong));
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

  /**
   * Looks whether documents have their rows.
   *
   * @param current the comparison; empty if what the rows belong to is gone
   * @param documents compares the documents behind a place
   */
  private <C, P> void checkDocuments(
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
      part.wrong().forEach(it -> report.add(database.place(), it.problem()));
      last = part.last();
    } while (last.isPresent());
  }

  /** Looks whether rows have their documents. */
  private <C> void checkRows(
      String what,
      Range range,
      Function<ReadTransaction, Optional<C>> current,
      BiFunction<C, KeyValue, Optional<WrongRow>> wrong) {
    new RowsCheck(reading, report, database.place())
        .each(
            what,
            range,
            row ->
                reading
                    .read(tx -> current.apply(tx).flatMap(it -> wrong.apply(it, row)))
                    .ifPresent(it -> report.add(database.place(), it.problem())));
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
              RowsCheck rows = new RowsCheck(SnapshotReading.of(tx), part, database.place());
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
