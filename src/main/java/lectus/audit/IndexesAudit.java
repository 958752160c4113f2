package lectus.audit;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.document.alldocs.AllDocsSubspace;
import lectus.document.design.DescribedIndexes;
import lectus.document.index.IndexComparison;
import lectus.index.IndexDefinition;
import lectus.index.StoredIndex;
import lectus.store.Awaiting;
import lectus.tuple.MalformedTupleException;

/**
 * Compares the indexes of a database with its documents: what each document should have is there,
 * what is there some document should have, and a design document describes each index.
 */
final class IndexesAudit {
  private static final int DOCUMENTS_AT_ONCE = 500;

  private final Reading reading;
  private final AuditedDatabase database;
  private final AuditReport report;
  private final KeptRowsAudit rows;

  IndexesAudit(Reading reading, AuditedDatabase database, AuditReport report) {
    this.reading = reading;
    this.database = database;
    this.report = report;
    this.rows = new KeptRowsAudit(reading, database, report);
  }

  void run() {
    for (StoredIndex index : database.handle().indexes().all()) {
      try {
        checkDescription(index);
        checkDocuments(index);
        DatabaseHandle db = database.handle();
        checkRows(index, IndexComparison.entries(db, index), IndexComparison::problemOfEntry);
        checkRows(index, IndexComparison.refused(db, index), IndexComparison::problemOfRefused);
      } catch (MalformedTupleException | IllegalArgumentException unreadable) {
        report.add(
            database.place(),
            "documents cannot be compared with an index (" + unreadable.getMessage() + ")");
      }
    }
    rows.checkStrays(
        "something of no index",
        List.of(DatabaseSubspace.INDEX_ENTRIES, DatabaseSubspace.INDEX_STATES),
        db -> db.indexes().all().stream().map(StoredIndex::number));
  }

  private void checkDescription(StoredIndex index) {
    boolean isDescribed =
        reading.read(
            tx -> {
              DatabaseHandle db = database.current(tx);
              return !isThere(db, index) || described(tx, db, index).contains(index.definition());
            });
    if (!isDescribed) {
      report.add(
          database.place(),
          "no design document describes the index "
              + index.definition().design()
              + "/"
              + index.definition().name());
    }
  }

  private static boolean isThere(DatabaseHandle db, StoredIndex index) {
    return db.indexes().numbered(index.number()).isPresent();
  }

  private static List<IndexDefinition> described(
      ReadTransaction tx, DatabaseHandle db, StoredIndex index) {
    String design = index.definition().design();
    return Awaiting.await(new AllDocsSubspace(db).get(tx, design))
        .map(row -> DescribedIndexes.stored(tx, db, design, row.winner()))
        .orElse(List.of());
  }

  private void checkDocuments(StoredIndex index) {
    Optional<String> last = Optional.empty();
    do {
      Optional<String> after = last;
      IndexComparison.Part part =
          reading.read(
              tx ->
                  comparison(tx, index)
                      .map(it -> it.documents(after, DOCUMENTS_AT_ONCE))
                      .orElse(new IndexComparison.Part(Optional.empty(), List.of())));
      part.problems().forEach(it -> report.add(database.place(), it));
      last = part.last();
    } while (last.isPresent());
  }

  /** Returns empty if the index is gone. */
  private Optional<IndexComparison> comparison(ReadTransaction tx, StoredIndex index) {
    DatabaseHandle db = database.current(tx);
    return db.indexes()
        .numbered(index.number())
        .filter(it -> it.definition().equals(index.definition()))
        .map(it -> new IndexComparison(tx, db, it));
  }

  private void checkRows(
      StoredIndex index,
      Range range,
      BiFunction<IndexComparison, KeyValue, Optional<String>> problemOf) {
    rows.checkRows("A row of an index", range, tx -> comparison(tx, index), problemOf);
  }
}
