package lectus.audit;

import com.apple.foundationdb.KeyValue;
import lectus.changes.PurgesSubspace;
import lectus.tuple.MalformedTupleException;

/**
 * Audits the list of purges: each row can be read. What was purged may have come again since, so
 * the list says nothing of the documents.
 */
final class PurgesAudit {
  private final Reading reading;
  private final AuditedDatabase database;
  private final AuditReport report;

  PurgesAudit(Reading reading, AuditedDatabase database, AuditReport report) {
    this.reading = reading;
    this.database = database;
    this.report = report;
  }

  void run() {
    PurgesSubspace purges = new PurgesSubspace(database.handle());
    RowCursor rows = new RowCursor(reading, purges.range());
    while (rows.hasNext()) {
      KeyValue row = rows.next();
      try {
        purges.decode(row);
      } catch (MalformedTupleException | IllegalArgumentException malformed) {
        report.add(database.place(), Texts.unreadable("A purge", row.getKey(), malformed));
      }
    }
  }
}
