package lectus.audit;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.tuple.ByteArrayUtil;
import java.util.List;
import java.util.Optional;
import lectus.audit.DatabaseAudit.AuditedDatabase;
import lectus.audit.Reading.RowCursor;
import lectus.database.DatabaseSubspace;
import lectus.document.BodyReading;
import lectus.document.DocumentsSubspace;
import lectus.document.read.LocalDocsSubspace;
import lectus.json.JsonAssembler;
import lectus.json.JsonBuffer;
import lectus.json.MalformedTupleException;
import lectus.json.TupleReader;
import lectus.store.Awaiting;

/** Audits the local documents: each row and each body can be read, and no body lacks its row. */
final class LocalDocumentsAudit {
  private final Reading reading;
  private final AuditedDatabase database;
  private final AuditReport report;
  private final LocalDocsSubspace documents;

  LocalDocumentsAudit(Reading reading, AuditedDatabase database, AuditReport report) {
    this.reading = reading;
    this.database = database;
    this.report = report;
    this.documents = new LocalDocsSubspace(database.handle());
  }

  void run() {
    RowsCheck rows = new RowsCheck(reading, report, database.place());
    rows.derived().each("A local document", rows(), row -> checkBody(documents.decode(row).id()));
    checkOwners();
    rows.others(
        DatabaseSubspace.LOCAL_DOCS.range(database.handle().prefix()),
        List.of(rows(), bodies()),
        "neither a local document nor its body");
  }

  private Range rows() {
    return new Range(documents.begin(), documents.end());
  }

  private Range bodies() {
    byte[] begin = documents.bodies();
    return new Range(begin, DocumentsSubspace.endOf(begin));
  }

  private void checkBody(String id) {
    reading
        .read(tx -> problem(tx, documents.body(id)))
        .ifPresent(
            it -> {
              boolean isStray = reading.read(tx -> RowsCheck.isStray(tx, it.row()));
              Repair repair = isStray ? Repair.removing(it.row()) : removing(id);
              report.add(database.place(id), it.problem(), repair);
            });
  }

  /** A row that cannot be read. */
  private record Unreadable(KeyValue row, String problem) {}

  private static Optional<Unreadable> problem(ReadTransaction tx, byte[] head) {
    BodyReading body = BodyReading.checking(new JsonAssembler(new JsonBuffer(256), false));
    KeyValue last = new KeyValue(head, new byte[0]);
    try {
      for (KeyValue row : tx.getRange(head, DocumentsSubspace.endOf(head))) {
        last = row;
        body.take(row.getKey(), head.length, row.getValue());
      }
      body.finish();
      return Optional.empty();
    } catch (MalformedTupleException
        | IllegalArgumentException
        | IllegalStateException
        | IndexOutOfBoundsException e) {
      return Optional.of(new Unreadable(last, Texts.unreadable("its body", last.getKey(), e)));
    }
  }

  private void checkOwners() {
    int offset = documents.bodies().length;
    RowCursor rows = new RowCursor(reading, bodies());
    byte[] done = new byte[0];
    while (rows.hasNext()) {
      byte[] key = rows.next().getKey();
      if (done.length == 0 || !ByteArrayUtil.startsWith(key, done)) {
        done = checkOwner(key, offset);
      }
    }
  }

  /** Returns the prefix shared by all keys of the document. */
  private byte[] checkOwner(byte[] key, int offset) {
    try {
      TupleReader reader = new TupleReader(key, offset);
      String id = reader.string();
      if (reading.read(tx -> isWithoutRow(tx, id))) {
        report.add(
            database.place(id),
            "a body is left of a local document that is not there",
            removing(id));
      }
      return documents.body(id);
    } catch (MalformedTupleException noId) {
      report.add(
          database.place(),
          Texts.unreadable("A local document's body", key, noId),
          Repair.of(Repair.Step.ROWS, "the row is removed", tx -> tx.clear(key)));
      return new byte[0];
    }
  }

  private Repair removing(String id) {
    return Repair.of(
        Repair.Step.ROWS,
        "the local document is removed",
        tx -> {
          database.currentForWrites(tx);
          tx.clear(documents.key(id));
          byte[] body = documents.body(id);
          tx.clear(body, DocumentsSubspace.endOf(body));
        });
  }

  /** Reads at one version, so that a document deleted meanwhile is not taken for a lost one. */
  private boolean isWithoutRow(ReadTransaction tx, String id) {
    byte[] head = documents.body(id);
    return Awaiting.await(tx.get(documents.key(id))) == null
        && !Awaiting.await(tx.getRange(head, DocumentsSubspace.endOf(head), 1).asList()).isEmpty();
  }
}
