package lectus.document.body;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.StreamingMode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import lectus.json.JsonAssembler;

/**
 * The key-values of one revision as they were read.
 *
 * @param pathOffset where in the keys the paths begin
 * @param descending whether the last leaf comes first
 */
public record StoredBody(List<KeyValue> rows, int pathOffset, boolean descending) {
  /** Reads all keys that are {@code prefix} or lie below it, in one range read. */
  public static CompletableFuture<StoredBody> read(ReadTransaction tx, byte[] prefix) {
    return tx.getRange(
            prefix,
            DocumentsSubspace.endOf(prefix),
            ReadTransaction.ROW_LIMIT_UNLIMITED,
            false,
            StreamingMode.WANT_ALL)
        .asList()
        .thenApply(rows -> new StoredBody(rows, prefix.length, false));
  }

  /** Whether the revision has something in the documents subspace, were it only its metadata. */
  public boolean isStored() {
    return !rows.isEmpty();
  }

  /** With key-values that lie behind these. */
  public StoredBody followedBy(StoredBody other) {
    List<KeyValue> all = new ArrayList<>(rows);
    all.addAll(other.rows);
    return new StoredBody(all, pathOffset, descending);
  }

  public void appendTo(JsonAssembler members) {
    int count = rows.size();
    for (int i = 0; i < count; i++) {
      append(members, rows.get(descending ? count - 1 - i : i));
    }
    members.finish();
  }

  private void append(JsonAssembler members, KeyValue row) {
    byte[] key = row.getKey();
    if (key.length == pathOffset) {
      DocumentsSubspace.checkMetadata(row.getValue());
    } else {
      members.leaf(key, pathOffset, row.getValue());
    }
  }
}
