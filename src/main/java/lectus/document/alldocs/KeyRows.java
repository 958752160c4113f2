package lectus.document.alldocs;

import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import lectus.database.DatabaseHandle;

/**
 * The rows of individually requested keys, in the order of the request.
 *
 * @param next the index of the next key
 */
record KeyRows(AllDocsQuery query, List<ListKey> keys, int next) implements ListRows {
  /** Number of keys read together. */
  private static final int KEYS_AT_ONCE = 100;

  KeyRows(AllDocsQuery query) {
    this(query, keysInOrder(query), 0);
  }

  private static List<ListKey> keysInOrder(AllDocsQuery query) {
    List<ListKey> keys = new ArrayList<>(query.keys().orElseThrow());
    if (query.descending()) {
      Collections.reverse(keys);
    }
    int from = (int) Math.min(keys.size(), query.skip());
    int to = (int) Math.min(keys.size(), from + Math.min(keys.size(), query.limit()));
    return keys.subList(from, to).stream().filter(query::mayList).toList();
  }

  @Override
  public boolean isFinished() {
    return next == keys.size();
  }

  @Override
  public ListRows append(ReadTransaction tx, DatabaseHandle db, ListRowWriter writer) {
    KeyReads reads = new KeyReads(tx, db, query);
    int at = next;
    while (at < keys.size() && !writer.isFull()) {
      int stop = Math.min(keys.size(), at + KEYS_AT_ONCE);
      at += reads.append(keys.subList(at, stop), writer);
    }
    return new KeyRows(query, keys, at);
  }
}
