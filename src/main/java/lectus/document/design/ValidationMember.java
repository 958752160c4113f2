package lectus.document.design;

import com.apple.foundationdb.ReadTransaction;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import lectus.database.DatabaseHandle;
import lectus.document.body.DocumentsSubspace;
import lectus.json.ExplodedBody;
import lectus.json.FieldPath;
import lectus.revision.RevisionId;
import lectus.tuple.TupleWriter;

/**
 * The member {@code validate_doc_update} of a design document. Whatever its value is, CouchDB takes
 * every write of the database to it.
 */
public final class ValidationMember {
  private static final byte[] ELEMENT = FieldPath.parse("validate_doc_update").prefixes().get(0);

  /** Follows the name where it goes on with a NUL, and so is another member's. */
  private static final byte ESCAPED_NUL = (byte) 0xff;

  private ValidationMember() {}

  /** Whether a body has it. */
  public static boolean isIn(ExplodedBody body) {
    return body.leaves().stream().anyMatch(leaf -> isIn(leaf.path(), 0));
  }

  /** Whether the leaf whose path begins at {@code pathOffset} of {@code key} belongs to it. */
  public static boolean isIn(byte[] key, int pathOffset) {
    int end = pathOffset + ELEMENT.length;
    return key.length >= end
        && Arrays.equals(key, pathOffset, end, ELEMENT, 0, ELEMENT.length)
        && (key.length == end || key[end] != ESCAPED_NUL);
  }

  /** Whether a stored live revision has it; reads one row. */
  public static CompletableFuture<Boolean> isStored(
      ReadTransaction tx, DatabaseHandle db, String docId, RevisionId revision) {
    byte[] member =
        TupleWriter.startingWith(new DocumentsSubspace(db).revision(docId, false, revision))
            .raw(ELEMENT)
            .toBytes();
    return tx.snapshot()
        .getRange(member, DocumentsSubspace.endOf(member), 1)
        .asList()
        .thenApply(rows -> !rows.isEmpty());
  }
}
