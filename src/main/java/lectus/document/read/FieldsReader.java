package lectus.document.read;

import com.apple.foundationdb.ReadTransaction;
import java.util.List;
import lectus.database.DatabaseHandle;
import lectus.document.DocumentJson;
import lectus.document.StoredBody;
import lectus.json.ChosenPaths;
import lectus.json.FieldPath;
import lectus.json.JsonBuffer;
import lectus.revision.RevisionId;
import lectus.store.Awaiting;

/** Reads some fields of a body: the ranges of their leaves and nothing else (RFC 004). */
public final class FieldsReader {
  private final ReadTransaction tx;
  private final Bodies bodies;

  public FieldsReader(ReadTransaction tx, DatabaseHandle db) {
    this.tx = tx;
    this.bodies = new Bodies(db);
  }

  /** Appends the document with only these fields; its object stays open. */
  public void append(
      String id, boolean deleted, RevisionId revision, List<FieldPath> fields, JsonBuffer out) {
    ChosenPaths chosen = ChosenPaths.ofFields(fields);
    StoredBody body = Awaiting.await(bodies.fields(tx, id, deleted, revision, chosen));
    DocumentJson.append(out, id, deleted, revision, body);
    Projection.appendAttachments(out, fields, body);
  }
}
