package lectus.audit;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import java.util.function.Consumer;
import lectus.changes.PurgesSubspace;
import lectus.document.purge.AutoPurgeSubspace;
import lectus.tuple.MalformedTupleException;

/**
 * Audits the list of purges and how long tombstones are kept: each row can be read. What was purged
 * may have come again since, so the list says nothing of the documents.
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
    check("A purge", purges.range(), purges::decode);
    AutoPurgeSubspace settings = new AutoPurgeSubspace(database.handle());
    check("A setting of tombstones", settings.range(), settings::decode);
  }

  private void check(String what, Range range, Consumer<KeyValue> decoding) {
    RowCursor rows = new RowCursor(reading, range);
    while (rows.hasNext()) {
      KeyValue row = rows.next();
      try {
        decoding.accept(row);
      } catch (MalformedTupleException | IllegalArgumentException malformed) {
        report.add(database.place(), Texts.unreadable(what, row.getKey(), malformed));
      }
    }
  }
}
