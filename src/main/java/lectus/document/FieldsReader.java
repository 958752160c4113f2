package lectus.document;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import lectus.database.DatabaseHandle;
import lectus.json.FieldPath;
import lectus.json.JsonBuffer;
import lectus.revision.RevisionId;
import lectus.store.Reads;

/** Reads some fields of a body: the ranges of their leaves and nothing else (RFC 004). */
final class FieldsReader {
  private final ReadTransaction tx;
  private final Bodies bodies;

  FieldsReader(ReadTransaction tx, DatabaseHandle db) {
    this.tx = tx;
    this.bodies = new Bodies(db);
  }

  /** Appends the document with these fields only; its object stays open. */
  void append(
      String id, boolean deleted, RevisionId revision, List<FieldPath> fields, JsonBuffer out) {
    byte[] prefix = bodies.prefix(id, deleted, revision);
    List<CompletableFuture<StoredBody>> ranges = new ArrayList<>();
    for (byte[] path : disjointPaths(fields)) {
      ranges.add(StoredBody.read(tx, DocumentKeys.join(prefix, path)));
    }
    List<KeyValue> rows = new ArrayList<>();
    for (CompletableFuture<StoredBody> range : ranges) {
      rows.addAll(Reads.await(range).rows());
    }
    DocumentJson.append(out, id, deleted, revision, new StoredBody(rows, prefix.length, false));
  }

  /** In the order of the store, without those that lie below another one. */
  private static List<byte[]> disjointPaths(List<FieldPath> fields) {
    List<byte[]> paths = new ArrayList<>();
    for (FieldPath field : fields) {
      paths.addAll(field.prefixes());
    }
    paths.sort(Arrays::compareUnsigned);
    List<byte[]> disjoint = new ArrayList<>();
    for (byte[] path : paths) {
      if (disjoint.isEmpty()
          || !DocumentKeys.isAtOrBelow(disjoint.get(disjoint.size() - 1), path)) {
        disjoint.add(path);
      }
    }
    return disjoint;
  }
}
