package lectus.audit;

import com.apple.foundationdb.KeyValue;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.tuple.MalformedTupleException;
import lectus.tuple.TupleReader;

/**
 * Iterates over all documents of a database in the order of their ids. It merges the subspaces
 * sorted by id and keeps one page of each in memory.
 */
final class DocumentCursor {
  private final DatabaseHandle db;
  private final AuditReport report;
  private final List<Part> parts;

  DocumentCursor(Reading reading, DatabaseHandle db, AuditReport report) {
    this.db = db;
    this.report = report;
    this.parts = StoredDocument.SUBSPACES.stream().map(it -> new Part(reading, it)).toList();
  }

  /** One of the subspaces. */
  private final class Part {
    private final DatabaseSubspace subspace;
    private final RowCursor rows;
    private final int prefixBytes;
    private byte[] id;

    private Part(Reading reading, DatabaseSubspace subspace) {
      this.subspace = subspace;
      this.rows = new RowCursor(reading, subspace.range(db.prefix()));
      this.prefixBytes = subspace.key(db.prefix()).length();
    }

    /** Returns the UTF-8 bytes of the next row's id, or null at the end. */
    private byte[] id() {
      while (id == null && rows.hasNext()) {
        KeyValue row = rows.peek();
        try {
          id = new TupleReader(row.getKey(), prefixBytes).stringUtf8();
        } catch (MalformedTupleException noId) {
          String place = Texts.database(db.name().text());
          report.add(
              place,
              Texts.unreadable("A key of " + subspace, row.getKey(), noId),
              Repair.removing(row));
          rows.next();
        }
      }
      return id;
    }

    private void feed(StoredDocumentBuilder document, byte[] itsId) {
      while (Arrays.equals(id(), itsId)) {
        document.part(subspace).accept(rows.next());
        id = null;
      }
    }
  }

  /** Returns the next document. Empty at the end. */
  Optional<StoredDocument> next() {
    Optional<byte[]> least =
        parts.stream()
            .map(Part::id)
            .filter(Objects::nonNull)
            .min(Comparator.comparing(id -> id, Arrays::compareUnsigned));
    return least.map(this::take);
  }

  private StoredDocument take(byte[] id) {
    StoredDocumentBuilder document =
        new StoredDocumentBuilder(db, new String(id, StandardCharsets.UTF_8));
    parts.forEach(part -> part.feed(document, id));
    return document.build();
  }
}
