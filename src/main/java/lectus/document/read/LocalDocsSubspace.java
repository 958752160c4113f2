package lectus.document.read;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.attachment.AttachmentList;
import lectus.changes.log.GoneSubspace;
import lectus.database.DatabaseConfiguration.BodyLayout;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.document.BodyRows;
import lectus.document.DocumentsSubspace;
import lectus.document.RevisionMetadata;
import lectus.document.edit.LocalEdit;
import lectus.json.ExplodedBody;
import lectus.json.StoredFormat;
import lectus.json.TupleReader;
import lectus.json.TupleWriter;
import lectus.revision.RevisionHash;
import lectus.revision.RevisionId;

/**
 * The local documents of one database. Ids include their {@code _local/}.
 *
 * <pre>
 * key    (prefix, LOCAL_DOCS, 0, doc id)
 * value  (format 1, number of the revision: 1 for "0-1")
 * key    (prefix, LOCAL_DOCS, 1, doc id)
 * value  as a revision's metadata: {@link RevisionMetadata}
 * key    (prefix, LOCAL_DOCS, 1, doc id, path…)
 * value  a leaf value of {@link ExplodedBody}, without a format of its own
 * key    (prefix, LOCAL_DOCS, 1, doc id, path…) ‖ 0x42 ‖ (number)
 * value  a further piece of the string at the path, if it is longer than a value may be
 * key    (prefix, LOCAL_DOCS, 1, doc id) ‖ 0x43 ‖ (number)
 * value  a part of a large body's JSON, as in {@link DocumentsSubspace}
 * </pre>
 */
public final class LocalDocsSubspace {
  private static final StoredFormat FORMAT = new StoredFormat(1, "A local document");
  private static final int ROWS = 0;
  private static final int BODIES = 1;

  /** Maximum length of a row's value, in bytes. */
  public static final int MAX_VALUE_BYTES = 16;

  private final byte[] rows;
  private final byte[] bodies;
  private final BodyLayout layout;
  private final GoneSubspace gone;

  public LocalDocsSubspace(DatabaseHandle db) {
    this.rows = DatabaseSubspace.LOCAL_DOCS.key(db.prefix()).integer(ROWS).toBytes();
    this.bodies = DatabaseSubspace.LOCAL_DOCS.key(db.prefix()).integer(BODIES).toBytes();
    this.layout = db.configuration().layout();
    this.gone = new GoneSubspace(db);
  }

  /** Returns the begin of a range over the rows of all ids. */
  public byte[] begin() {
    return rows.clone();
  }

  /** Returns the end of a range over the rows of all ids. */
  public byte[] end() {
    return DocumentsSubspace.endOf(rows);
  }

  /** Returns the key of an id's row. */
  public byte[] key(String id) {
    return new TupleWriter(rows).string(id).toBytes();
  }

  /** Decodes a row of a range read. */
  public LocalRow decode(KeyValue row) {
    String id = new TupleReader(row.getKey(), rows.length).only(TupleReader::string);
    return decode(id, row.getValue());
  }

  /** Returns the row of an id; empty if there is no such document. */
  public CompletableFuture<Optional<LocalRow>> row(ReadTransaction tx, String id) {
    return tx.get(key(id)).thenApply(value -> Optional.ofNullable(value).map(it -> decode(id, it)));
  }

  /** Returns the prefix of the keys of all bodies. */
  public byte[] bodies() {
    return bodies.clone();
  }

  /** Returns the prefix of the keys of a document's body. */
  public byte[] body(String id) {
    return new TupleWriter(bodies).string(id).toBytes();
  }

  /** Returns the revision {@code 0-number}. */
  public static RevisionId revision(long number) {
    byte[] digits = Long.toString(number).getBytes(StandardCharsets.US_ASCII);
    return new RevisionId(0, new RevisionHash(digits));
  }

  /** Replaces or removes the document, whatever is stored. */
  public void write(Transaction tx, LocalEdit edit, BodyRows body) {
    if (edit.deleted()) {
      remove(tx, edit.id());
    } else {
      gone.noteLocal(tx, edit.id());
      clearBody(tx, edit.id());
      put(tx, edit, body);
    }
  }

  /** Removes the document, whatever is stored. */
  public void remove(Transaction tx, String id) {
    gone.noteLocal(tx, id);
    clearBody(tx, id);
    tx.clear(key(id));
  }

  private void clearBody(Transaction tx, String id) {
    byte[] begin = body(id);
    tx.options().setNextWriteNoWriteConflictRange();
    tx.clear(begin, DocumentsSubspace.endOf(begin));
  }

  /** Only the row gets a write conflict range, because nobody reads a body without its row. */
  private void put(Transaction tx, LocalEdit edit, BodyRows body) {
    byte[] row =
        new TupleWriter(MAX_VALUE_BYTES).integer(FORMAT.number()).integer(edit.number()).toBytes();
    tx.set(key(edit.id()), row);
    body.put(tx, new TupleWriter(bodies).string(edit.id()));
  }

  /** Returns the rows of a document's body. */
  public BodyRows rows(LocalEdit edit) {
    return new BodyRows(layout, body(edit.id()).length, edit.body(), AttachmentList.NONE);
  }

  private static LocalRow decode(String id, byte[] bytes) {
    return new LocalRow(id, revision(FORMAT.reader(bytes).only(TupleReader::integer)));
  }

  /** A stored local document, without its body. */
  public record LocalRow(String id, RevisionId revision) {}
}
