package lectus.audit;

import com.apple.foundationdb.KeyValue;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.Optional;
import lectus.database.DatabaseCounters;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.database.StatisticsDelta;

/** Compares the counters of a database with the audit's counts, slot by slot. */
record CountersAudit(Reading reading, AuditedDatabase database, AuditReport report) {
  private static final int COUNTER_BYTES = Long.BYTES;

  void run(StatisticsDelta counted) {
    DatabaseHandle db = database.handle();
    Map<ByteBuffer, Long> expected = counted.values(db);
    RowCursor rows = new RowCursor(reading, DatabaseSubspace.STATISTICS.range(db.prefix()));
    while (rows.hasNext()) {
      KeyValue row = rows.next();
      Long count = expected.remove(ByteBuffer.wrap(row.getKey()));
      check(row, count == null ? 0 : count);
    }
    expected.forEach((key, count) -> report(key.array(), 0, count));
  }

  private void check(KeyValue row, long expected) {
    if (row.getValue().length != COUNTER_BYTES) {
      report.add(
          database.place(),
          "a counter is not 8 bytes long, the key " + Texts.key(row.getKey()),
          Repair.removing(row));
      return;
    }
    report(row.getKey(), DatabaseCounters.count(row.getValue()), expected);
  }

  private void report(byte[] key, long found, long expected) {
    Optional<String> name = DatabaseCounters.nameOf(database.handle(), key);
    if (name.isEmpty()) {
      report.add(
          database.place(),
          "an unknown counter, the key " + Texts.key(key),
          Repair.of(Repair.Step.ROWS, "it is removed", tx -> tx.clear(key)));
    } else if (found != expected) {
      report.add(
          database.place(),
          "the counter of " + name.get() + " says " + found + ", there are " + expected,
          Repair.of(
              Repair.Step.COUNTERS,
              "it is set to " + expected,
              tx -> {
                database.currentForWrites(tx);
                DatabaseCounters.add(tx, key, expected - found);
              }));
    }
  }
}
