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
 * The member {@code validate_doc_update} of a design document. If it is present, with any value,
 * CouchDB submits every write of the database to it.
 */
public final class ValidationMember {
  private static final byte[] ELEMENT = FieldPath.parse("validate_doc_update").prefixes().get(0);

  /** Follows the name if the name goes on with a NUL: then it is another member's. */
  private static final byte ESCAPED_NUL = (byte) 0xff;

  private ValidationMember() {}

  /** Whether a body has the member. */
  public static boolean isIn(ExplodedBody body) {
    return body.leaves().stream().anyMatch(leaf -> isIn(leaf.path(), 0));
  }

  /**
   * Whether the leaf whose path begins at {@code pathOffset} of {@code key} belongs to the member.
   */
  public static boolean isIn(byte[] key, int pathOffset) {
    int end = pathOffset + ELEMENT.length;
    return key.length >= end
        && Arrays.equals(key, pathOffset, end, ELEMENT, 0, ELEMENT.length)
        && (key.length == end || key[end] != ESCAPED_NUL);
  }

  /** Whether a stored live revision has the member; reads one row. */
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
