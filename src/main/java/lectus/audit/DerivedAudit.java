package lectus.audit;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.util.List;
import java.util.Optional;
import lectus.audit.DatabaseAudit.AuditedDatabase;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.database.RefusedSubspace;
import lectus.database.Sequence;
import lectus.database.ShardId;
import lectus.database.ShardTopology.Generation;
import lectus.derived.Derived;
import lectus.derived.StoredIndex;
import lectus.derived.rows.DerivedRows;
import lectus.derived.rows.DerivedRows.Compared;
import lectus.derived.rows.DerivedRows.WrongRow;
import lectus.derived.rows.FillingJobs;
import lectus.document.read.AllDocsSubspace;
import lectus.document.write.DescribedIndexes;
import lectus.document.write.Maintenance;
import lectus.json.MalformedTupleException;
import lectus.revision.RevisionsSubspace;
import lectus.store.Awaiting;

/**
 * Compares the indexes and the stored feeds of a database with its documents: what each document
 * should have is there, what is there some document should have, and a design document describes
 * each index.
 */
final class DerivedAudit {
  private static final int DOCUMENTS_AT_ONCE = 500;

  private final Reading reading;
  private final AuditedDatabase database;
  private final AuditReport report;
  private final byte[] root;

  /**
   * @param root the prefix of the store's keys
   */
  DerivedAudit(Reading reading, AuditedDatabase database, AuditReport report, byte[] root) {
    this.root = root.clone();
    this.reading = reading;
    this.database = database;
    this.report = report;
  }

  void run() {
    for (Derived each : database.handle().derived()) {
      try {
        check(each);
      } catch (MalformedTupleException | IllegalArgumentException unreadable) {
        report.add(
            database.place(),
            "documents cannot be compared with the "
                + each.definition().title()
                + " ("
                + unreadable.getMessage()
                + ")");
      }
    }
    checkStrays();
  }

  private void check(Derived one) {
    if (one instanceof StoredIndex index && !reading.<Boolean>read(tx -> isDescribed(tx, index))) {
      report.add(
          database.place(),
          "no design document describes the " + index.definition().title(),
          Repair.of(Repair.Step.DERIVED_ROWS, "it is removed", tx -> remove(tx, index)));
    }
    checkRows(one);
    for (Generation generation : database.handle().topology().generations()) {
      generation.shards().forEach(shard -> checkDocuments(one, shard));
    }
  }

  /** Returns empty if it is gone. */
  private Optional<DerivedRows<?>> current(ReadTransaction tx, Derived one) {
    DatabaseHandle db = database.current(tx);
    return db.derived().stream()
        .filter(one::equals)
        .findFirst()
        .map(it -> Maintenance.rows(tx, db, it));
  }

  private boolean isDescribed(ReadTransaction tx, StoredIndex index) {
    DatabaseHandle db = database.current(tx);
    String design = index.definition().design();
    return db.indexes().current(index).isEmpty()
        || Awaiting.await(new AllDocsSubspace(db).get(tx, design))
            .map(row -> DescribedIndexes.stored(tx, db, design, row.winner()))
            .orElse(List.of())
            .contains(index.definition());
  }

  private void remove(Transaction tx, StoredIndex index) {
    DatabaseHandle db = database.currentForWrites(tx);
    new RevisionsSubspace(db).conflictWithEdits(tx, index.definition().design());
    if (!isDescribed(tx, index)) {
      new FillingJobs(root).remove(tx, db, index);
      database.catalogue().moveVersion(tx, db);
    }
  }

  /** Looks whether documents have their rows. */
  private void checkDocuments(Derived one, ShardId shard) {
    Optional<Sequence> last = Optional.empty();
    do {
      Optional<Sequence> after = last;
      Compared part =
          reading.read(
              tx ->
                  current(tx, one)
                      .map(it -> it.compare(shard, after, DOCUMENTS_AT_ONCE))
                      .orElse(new Compared(Optional.empty(), List.of())));
      part.wrong().forEach(it -> report(one, it));
      last = part.last();
    } while (last.isPresent());
  }

  /** Looks whether rows have their documents. */
  private void checkRows(Derived one) {
    DerivedRows<?> decoder = reading.read(tx -> Maintenance.rows(tx, database.handle(), one));
    new RowsCheck(reading, report, database.place())
        .derived()
        .together(
            "A row of the " + one.definition().title(),
            RefusedSubspace.rowsOf(database.handle(), one),
            decoder::check,
            rows -> checkTogether(one, rows));
  }

  /** Returns how many rows were checked: all, if the index or the stored feed is gone. */
  private int checkTogether(Derived one, List<KeyValue> rows) {
    Optional<List<Optional<WrongRow>>> problems =
        reading.read(tx -> current(tx, one).map(it -> it.problemsOf(rows)));
    problems.stream()
        .flatMap(List::stream)
        .flatMap(Optional::stream)
        .forEach(it -> report(one, it));
    return problems.map(List::size).orElse(rows.size());
  }

  private void report(Derived one, WrongRow wrong) {
    report.add(
        database.place(),
        wrong.problem(),
        Repair.of(
            Repair.Step.DERIVED_ROWS,
            "its row is made anew from the document",
            tx -> {
              DatabaseHandle db = database.currentForWrites(tx);
              new RevisionsSubspace(db).conflictWithEdits(tx, wrong.docId());
              current(tx, one).ifPresent(it -> mend(tx, it, wrong));
            }));
  }

  private static void mend(Transaction tx, DerivedRows<?> rows, WrongRow wrong) {
    rows.expected(wrong.docId(), wrong.key())
        .ifPresentOrElse(value -> tx.set(wrong.key(), value), () -> tx.clear(wrong.key()));
  }

  /** Reports rows of no index and no stored feed of the database, at one version. */
  private void checkStrays() {
    AuditReport strays =
        reading.read(
            tx -> {
              DatabaseHandle now = database.current(tx);
              AuditReport part = report.part();
              List<Range> known =
                  now.derived().stream().map(it -> RefusedSubspace.rowsOf(now, it)).toList();
              new RowsCheck(Reading.Snapshot.of(tx), part, database.place())
                  .derived()
                  .others(
                      DatabaseSubspace.DERIVED_ROWS.range(now.prefix()),
                      known,
                      "something of no index and no stored feed");
              return part;
            });
    report.takeOver(strays);
  }
}
