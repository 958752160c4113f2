package lectus.document.read;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.StreamingMode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import lectus.database.DatabaseHandle;
import lectus.document.body.DocumentsSubspace;
import lectus.json.LeafList;
import lectus.revision.RevisionId;
import lectus.selector.LeafRead;
import lectus.selector.Selector;
import lectus.store.Reads;

/**
 * Matches documents at known leaves against a selector, many at a time. Of each it reads what the
 * selector looks at, no more (RFC 004): often one key.
 */
public final class SelectedDocuments {
  private final ReadTransaction tx;
  private final Selector selector;
  private final Bodies bodies;
  private final SpecialLeaves special;
  private final List<LeafRead> stored = new ArrayList<>();
  private long bytesRead;

  public SelectedDocuments(ReadTransaction tx, DatabaseHandle db, Selector selector) {
    this.tx = tx;
    this.selector = selector;
    this.bodies = new Bodies(db);
    this.special = new SpecialLeaves(selector);
    selector.reads().stream().filter(it -> !SpecialLeaves.isPart(it)).forEach(stored::add);
  }

  /** A document of which the selector's leaves are being read. */
  public static final class Started {
    private final String id;
    private final boolean deleted;
    private final RevisionId leaf;
    private final byte[] prefix;
    private final List<CompletableFuture<List<KeyValue>>> reads;

    private Started(
        String id,
        boolean deleted,
        RevisionId leaf,
        byte[] prefix,
        List<CompletableFuture<List<KeyValue>>> reads) {
      this.id = id;
      this.deleted = deleted;
      this.leaf = leaf;
      this.prefix = prefix;
      this.reads = reads;
    }
  }

  public Started start(String id, boolean deleted, RevisionId leaf) {
    byte[] prefix = bodies.prefix(id, deleted, leaf);
    List<CompletableFuture<List<KeyValue>>> reads = new ArrayList<>(stored.size());
    for (LeafRead read : stored) {
      reads.add(start(DocumentKeys.join(prefix, read.path()), read));
    }
    return new Started(id, deleted, leaf, prefix, reads);
  }

  private CompletableFuture<List<KeyValue>> start(byte[] key, LeafRead read) {
    return switch (read.extent()) {
      case LEAF ->
          tx.get(key)
              .thenApply(value -> value == null ? List.of() : List.of(new KeyValue(key, value)));
      case FIRST ->
          tx.getRange(key, DocumentsSubspace.endOf(key), 1, false, StreamingMode.EXACT).asList();
      case ALL ->
          tx.getRange(
                  key,
                  DocumentsSubspace.endOf(key),
                  ReadTransaction.ROW_LIMIT_UNLIMITED,
                  false,
                  StreamingMode.WANT_ALL)
              .asList();
    };
  }

  public boolean matches(Started document) {
    int pathOffset = document.prefix.length;
    LeafList leaves = new LeafList(pathOffset);
    for (CompletableFuture<List<KeyValue>> read : document.reads) {
      for (KeyValue row : Reads.await(read)) {
        bytesRead += row.getKey().length + row.getValue().length;
        if (row.getKey().length > pathOffset) {
          leaves.add(row.getKey(), row.getValue());
        }
      }
    }
    special.addTo(leaves, document.prefix, document.id, document.deleted, document.leaf);
    return selector.matches(leaves.root());
  }

  /** Keys and values that were read for all documents matched so far. */
  public long bytesRead() {
    return bytesRead;
  }
}
