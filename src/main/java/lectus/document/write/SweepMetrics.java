package lectus.document.write;

import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;
import lectus.database.DatabaseName;
import lectus.error.LectusError;
import lectus.json.MalformedTupleException;
import lectus.metrics.Meters;
import lectus.metrics.Meters.Measured;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs and counts what a sweep of tombstones has to leave. It goes on behind a document, and does
 * not come back to it until the document changes, so each is logged once. An unreadable database is
 * met again in each round, and logged when it was readable before. Used by one thread; any may read
 * the count.
 */
public final class SweepMetrics implements Measured {
  private static final Logger LOG = LoggerFactory.getLogger(SweepMetrics.class);

  /** Of more databases it is not known what was logged; they are only counted. */
  static final int MAX_REMEMBERED = 1_000;

  final LongAdder left = new LongAdder();
  final Set<DatabaseName> unreadable = new HashSet<>();

  void left(DatabaseName database, String docId, LectusError error) {
    left.increment();
    LOG.warn(
        "An old tombstone was left, because it cannot be purged: {} of {}: {}",
        docId,
        database.text(),
        error.reason());
  }

  void unreadable(DatabaseName database, MalformedTupleException damage) {
    left.increment();
    if (unreadable.size() < MAX_REMEMBERED && unreadable.add(database)) {
      LOG.warn("The tombstones of {} cannot be read, and were left", database.text(), damage);
    }
  }

  @Override
  public void describe(Meters meters) {
    meters.count(
        "lectus_tombstones_left",
        "Times that tombstones were left because they could not be purged.",
        left::sum);
  }
}
