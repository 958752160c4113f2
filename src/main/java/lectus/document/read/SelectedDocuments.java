package lectus.document.read;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.StreamingMode;
import com.apple.foundationdb.async.AsyncIterator;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import lectus.database.DatabaseHandle;
import lectus.document.body.DocumentsSubspace;
import lectus.json.LeafList;
import lectus.json.StringPieces;
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
    private final List<Part> parts;

    private Started(String id, boolean deleted, RevisionId leaf, byte[] prefix, List<Part> parts) {
      this.id = id;
      this.deleted = deleted;
      this.leaf = leaf;
      this.prefix = prefix;
      this.parts = parts;
    }
  }

  public Started start(String id, boolean deleted, RevisionId leaf) {
    byte[] prefix = bodies.prefix(id, deleted, leaf);
    List<Part> parts = new ArrayList<>(stored.size());
    for (LeafRead read : stored) {
      parts.add(start(DocumentKeys.join(prefix, read.path()), read));
    }
    return new Started(id, deleted, leaf, prefix, parts);
  }

  /** A part of a document that is being read. Of a long one only the beginning is read ahead. */
  private interface Part {
    void addTo(LeafList leaves, int pathOffset);
  }

  private Part start(byte[] key, LeafRead read) {
    return switch (read.extent()) {
      case LEAF -> leaf(key);
      case TYPE -> first(key, false);
      case FIRST -> first(key, true);
      case ALL -> all(key);
    };
  }

  private Part leaf(byte[] key) {
    CompletableFuture<byte[]> reading = tx.get(key);
    return (leaves, pathOffset) -> {
      byte[] value = Reads.await(reading);
      if (value != null) {
        add(leaves, pathOffset, key, value);
        addPieces(leaves, pathOffset, key, value);
      }
    };
  }

  private Part first(byte[] key, boolean whole) {
    CompletableFuture<List<KeyValue>> reading =
        tx.getRange(key, DocumentsSubspace.endOf(key), 1, false, StreamingMode.EXACT).asList();
    return (leaves, pathOffset) -> {
      for (KeyValue row : Reads.await(reading)) {
        add(leaves, pathOffset, row.getKey(), row.getValue());
        if (whole && row.getKey().length == key.length) {
          addPieces(leaves, pathOffset, key, row.getValue());
        }
      }
    };
  }

  private Part all(byte[] key) {
    AsyncIterator<KeyValue> reading = rows(key, DocumentsSubspace.endOf(key));
    return (leaves, pathOffset) -> addAll(leaves, pathOffset, reading);
  }

  /** The further rows of a leaf. */
  private void addPieces(LeafList leaves, int pathOffset, byte[] key, byte[] first) {
    if (StringPieces.areBegunBy(first)) {
      addAll(leaves, pathOffset, rows(StringPieces.begin(key), StringPieces.end(key)));
    }
  }

  private AsyncIterator<KeyValue> rows(byte[] begin, byte[] end) {
    return tx.getRange(
            begin, end, ReadTransaction.ROW_LIMIT_UNLIMITED, false, StreamingMode.WANT_ALL)
        .iterator();
  }

  private void addAll(LeafList leaves, int pathOffset, AsyncIterator<KeyValue> rows) {
    while (rows.hasNext()) {
      KeyValue row = rows.next();
      add(leaves, pathOffset, row.getKey(), row.getValue());
    }
  }

  private void add(LeafList leaves, int pathOffset, byte[] key, byte[] value) {
    bytesRead += key.length + value.length;
    if (key.length > pathOffset) {
      leaves.add(key, value);
    }
  }

  public boolean matches(Started document) {
    int pathOffset = document.prefix.length;
    LeafList leaves = new LeafList(pathOffset);
    document.parts.forEach(part -> part.addTo(leaves, pathOffset));
    special.addTo(leaves, document.prefix, document.id, document.deleted, document.leaf);
    return selector.matches(leaves.root());
  }

  /** Keys and values that were read for all documents matched so far. */
  public long bytesRead() {
    return bytesRead;
  }
}
