package lectus.document.write;

import com.apple.foundationdb.ReadTransaction;
import java.util.List;
import lectus.database.DatabaseHandle;
import lectus.document.DocumentsSubspace;
import lectus.document.StoredBody;
import lectus.json.ChosenPaths;
import lectus.json.ExplodedBody;
import lectus.json.FieldPath;
import lectus.json.JsonAssembler;
import lectus.json.JsonBuffer;
import lectus.revision.RevisionId;
import lectus.store.Awaiting;

/**
 * The member {@code validate_doc_update} of a design document. If it is present, with any value,
 * CouchDB submits every write of the database to it.
 */
public final class ValidationMember {
  public static final ChosenPaths LEAVES =
      ChosenPaths.ofFields(List.of(FieldPath.parse("validate_doc_update")));

  private ValidationMember() {}

  /** Whether a body has the member. */
  public static boolean isIn(ExplodedBody body) {
    return body.has(LEAVES);
  }

  /** Whether the leaf of a path belongs to the member. */
  public static boolean isIn(byte[] bytes, int path, int pathEnd) {
    return LEAVES.contain(bytes, path, pathEnd);
  }

  /** Whether a stored live revision has the member. */
  public static boolean isStored(
      ReadTransaction tx, DatabaseHandle db, String docId, RevisionId revision) {
    byte[] prefix = new DocumentsSubspace(db).revision(docId, false, revision);
    JsonBuffer member = new JsonBuffer(64);
    Awaiting.await(StoredBody.read(tx.snapshot(), prefix, LEAVES))
        .appendTo(new JsonAssembler(member, false));
    return member.length() > 0;
  }
}
