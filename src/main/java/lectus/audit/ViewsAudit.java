package lectus.audit;

import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import lectus.audit.DatabaseAudit.AuditedDatabase;
import lectus.changes.log.GoneSubspace;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.json.MalformedTupleException;
import lectus.view.ViewCheck;
import lectus.view.ViewCheck.Part;
import lectus.view.ViewCheck.Position;
import lectus.view.ViewCheck.Reductions;

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
