package lectus.audit;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import lectus.channel.StoredFeed;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.database.Generation;
import lectus.database.Sequence;
import lectus.database.ShardId;
import lectus.document.feed.FeedComparison;
import lectus.tuple.MalformedTupleException;

/**
 * Compares the stored feeds of a database with its documents: what each document should have is
 * there, what is there some document should have, or has left there.
 */
final class FeedsAudit {
  private static final int DOCUMENTS_AT_ONCE = 500;

  private final Reading reading;
  private final AuditedDatabase database;
  private final AuditReport report;
  private final KeptRowsAudit rows;

  FeedsAudit(Reading reading, AuditedDatabase database, AuditReport report) {
    this.reading = reading;
    this.database = database;
    this.report = report;
    this.rows = new KeptRowsAudit(reading, database, report);
  }

  void run() {
    for (StoredFeed feed : database.handle().feeds().all()) {
      try {
        for (Generation generation : database.handle().topology().generations()) {
          generation.shards().forEach(shard -> checkDocuments(feed, shard));
        }
        FeedComparison.rows(database.handle(), feed)
            .forEach((range, problemOf) -> checkRows(feed, range, problemOf));
      } catch (MalformedTupleException | IllegalArgumentException unreadable) {
        report.add(
            database.place(),
            "documents cannot be compared with a stored feed (" + unreadable.getMessage() + ")");
      }
    }
    rows.checkStrays(
        "something of no stored feed",
        List.of(
            DatabaseSubspace.FEED_ENTRIES,
            DatabaseSubspace.FEED_DEPARTURES,
            DatabaseSubspace.FEED_STATES),
        db -> db.feeds().all().stream().map(StoredFeed::number));
  }

  private void checkDocuments(StoredFeed feed, ShardId shard) {
    Optional<Sequence> last = Optional.empty();
    do {
      Optional<Sequence> after = last;
      FeedComparison.Part part =
          reading.read(
              tx ->
                  comparison(tx, feed)
                      .map(it -> it.documents(shard, after, DOCUMENTS_AT_ONCE))
                      .orElse(FeedComparison.Part.NONE));
      part.problems().forEach(it -> report.add(database.place(), it));
      last = part.last();
    } while (last.isPresent());
  }

  /** Returns empty if the feed is gone. */
  private Optional<FeedComparison> comparison(ReadTransaction tx, StoredFeed feed) {
    DatabaseHandle db = database.current(tx);
    return db.feeds().current(feed).map(it -> new FeedComparison(tx, db, it));
  }

  private void checkRows(
      StoredFeed feed,
      Range range,
      BiFunction<FeedComparison, KeyValue, Optional<String>> problemOf) {
    rows.checkRows("A row of a stored feed", range, tx -> comparison(tx, feed), problemOf);
  }
}
