package lectus.audit;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import lectus.audit.DatabaseAudit.AuditedDatabase;
import lectus.changes.log.GoneSubspace;
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
import lectus.derived.rows.JobTasksSubspace;
import lectus.derived.rows.JobsSubspace;
import lectus.derived.rows.JobsSubspace.Job;
import lectus.document.read.AllDocsSubspace;
import lectus.document.write.DescribedIndexes;
import lectus.document.write.Maintenance;
import lectus.json.MalformedTupleException;
import lectus.revision.RevisionsSubspace;
import lectus.store.Awaiting;
import lectus.view.ViewCheck;
import lectus.view.ViewCheck.Part;
import lectus.view.ViewCheck.Position;
import lectus.view.ViewCheck.Reductions;

/**
 * Compares the indexes and the stored feeds of a database with its documents: what each document
 * should have is there, what is there some document should have, and a design document describes
 * each index.
 *
 * @param root the prefix of the store's keys
 */
record DerivedAudit(Reading reading, AuditedDatabase database, AuditReport report, byte[] root) {
  private static final int DOCUMENTS_AT_ONCE = 500;

  void run() {
    for (Derived each : database.handle().derived()) {
      try {
        check(each);
      } catch (MalformedTupleException | IllegalArgumentException unreadable) {
        report.add(
            database.place(),
            "documents cannot be compared with the %s (%s)"
                .formatted(each.definition().title(), unreadable.getMessage()));
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

  /** Looks whether the rows of views can be read, and agree with each other, part by part. */
  record ViewsAudit(Reading reading, AuditedDatabase database, AuditReport report) {
    void run() {
      DatabaseHandle db = database.handle();
      RowsCheck rows = new RowsCheck(reading, report, database.place()).derived();
      GoneSubspace gone = new GoneSubspace(db);
      rows.each("A row of what is gone", gone.range(), gone::check);
      rows.each(
          "A row of the indexes of views",
          ViewCheck.definitions(db),
          row -> ViewCheck.checkDefinition(db, row));
      List<Range> known = new ArrayList<>();
      for (long number : reading.read(tx -> ViewCheck.indexes(tx, db))) {
        Optional<ViewCheck> check = reading.read(tx -> ViewCheck.of(tx, db, number));
        check.ifPresent(
            it -> {
              known.add(it.range());
              rows.each("A row of views", it.range(), it::check);
              compare(number, reductions(it));
            });
      }
      rows.others(DatabaseSubspace.VIEW_ROWS.range(db.prefix()), known, "a row of no view");
    }

    /** A design document that cannot be read is named elsewhere. */
    private Reductions reductions(ViewCheck check) {
      try {
        return reading.read(check::reductions);
      } catch (MalformedTupleException | IllegalArgumentException unreadable) {
        return Reductions.UNKNOWN;
      }
    }

    private void compare(long number, Reductions reductions) {
      Optional<Position> at = Optional.of(Position.BEGIN);
      while (at.isPresent()) {
        Position from = at.get();
        Part part = part(number, from, reductions);
        part.wrong().forEach(it -> report(number, it));
        at = part.next();
      }
    }

    private void report(long number, String problem) {
      report.add(
          database.place(),
          problem,
          Repair.of(
              Repair.Step.DERIVED_ROWS,
              "the index is removed, and built anew when it is needed",
              tx ->
                  ViewCheck.of(tx, database.currentForWrites(tx), number)
                      .ifPresent(check -> check.remove(tx))));
    }

    /** Rows that cannot be read are named by themselves, and end the comparison. */
    private Part part(long number, Position from, Reductions reductions) {
      try {
        return reading.read(tx -> part(tx, number, from, reductions));
      } catch (MalformedTupleException | IllegalArgumentException unreadable) {
        return new Part(List.of(), Optional.empty());
      }
    }

    private Part part(ReadTransaction tx, long number, Position from, Reductions reductions) {
      return ViewCheck.of(tx, database.current(tx), number)
          .map(it -> it.check(tx, from, reductions))
          .orElse(new Part(List.of(), Optional.empty()));
    }
  }

  /**
   * Checks the jobs of one database, at one version: each task belongs to a job, and each index or
   * stored feed that is not readable has a job that makes it so.
   *
   * @param root the prefix of the store's keys
   */
  record JobsAudit(ReadTransaction tx, byte[] root, AuditedDatabase database, AuditReport report) {
    AuditReport run() {
      try {
        List<Job> jobs =
            Awaiting.await(new JobsSubspace(root).of(tx, database.handle().instance()));
        checkTasks(jobs);
        checkFilling(jobs);
      } catch (MalformedTupleException unreadable) {
        report.add(database.place(), "its jobs cannot be read (" + unreadable.getMessage() + ")");
      }
      return report;
    }

    private void checkTasks(List<Job> jobs) {
      JobTasksSubspace tasks = new JobTasksSubspace(database.handle());
      RowsCheck rows = new RowsCheck(Reading.Snapshot.of(tx), report, database.place()).derived();
      List<Range> known = new ArrayList<>();
      for (Job job : jobs) {
        Range range = tasks.range(job.number());
        known.add(range);
        rows.each("A task of a job", range, tasks::decode);
      }
      rows.others(
          DatabaseSubspace.JOB_TASKS.range(database.handle().prefix()), known, "a task of no job");
    }

    private void checkFilling(List<Job> jobs) {
      for (Derived each : database.handle().derived()) {
        boolean isFilled =
            each.isReadable() || jobs.stream().anyMatch(it -> it.number() == each.number());
        if (!isFilled) {
          report.add(
              database.place(),
              "no job fills the " + each.definition().title(),
              beginning(each.number()));
        }
      }
    }

    private Repair beginning(long number) {
      return Repair.of(
          Repair.Step.DERIVED_ROWS,
          "a job begins, which a server does",
          write -> {
            DatabaseHandle now = database.currentForWrites(write);
            new FillingJobs(root).begin(write, now, number);
            database.catalogue().moveVersion(write, now);
          });
    }
  }
}
