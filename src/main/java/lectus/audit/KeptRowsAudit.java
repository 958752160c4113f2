package lectus.audit;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Stream;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.tuple.MalformedTupleException;

/** Checks rows that a database keeps of its documents: those of indexes and of stored feeds. */
final class KeptRowsAudit {
  private final Reading reading;
  private final AuditedDatabase database;
  private final AuditReport report;

  KeptRowsAudit(Reading reading, AuditedDatabase database, AuditReport report) {
    this.reading = reading;
    this.database = database;
    this.report = report;
  }

  /**
   * Checks each row of a range.
   *
   * @param what names a row that cannot be read
   * @param comparison with the documents; empty if what the rows belong to is gone
   */
  <C> void checkRows(
      String what,
      Range range,
      Function<ReadTransaction, Optional<C>> comparison,
      BiFunction<C, KeyValue, Optional<String>> problemOf) {
    RowCursor rows = new RowCursor(reading, range);
    while (rows.hasNext()) {
      KeyValue row = rows.next();
      try {
        reading
            .read(tx -> comparison.apply(tx).flatMap(it -> problemOf.apply(it, row)))
            .ifPresent(problem -> report.add(database.place(), problem));
      } catch (MalformedTupleException | IllegalArgumentException malformed) {
        report.add(database.place(), Texts.unreadable(what, row.getKey(), malformed));
      }
    }
  }

  /**
   * Reports rows below none of the numbers that a database has.
   *
   * @param what names such a row
   */
  void checkStrays(
      String what,
      List<DatabaseSubspace> subspaces,
      Function<DatabaseHandle, Stream<Long>> numbers) {
    report.takeOver(reading.read(tx -> strays(tx, what, subspaces, numbers)));
  }

  /** At one version, because the numbers decide what is a stray. */
  private AuditReport strays(
      ReadTransaction tx,
      String what,
      List<DatabaseSubspace> subspaces,
      Function<DatabaseHandle, Stream<Long>> numbers) {
    DatabaseHandle db = database.current(tx);
    AuditReport part = report.part();
    long noDeadline = System.nanoTime() + Long.MAX_VALUE / 2;
    Gaps gaps = new Gaps(new SnapshotReading(tx, noDeadline), part, database.place());
    for (DatabaseSubspace subspace : subspaces) {
      List<Range> known =
          numbers
              .apply(db)
              .map(it -> Range.startsWith(subspace.key(db.prefix()).integer(it).toBytes()))
              .toList();
      gaps.check(subspace.range(db.prefix()), known, what);
    }
    return part;
  }
}
