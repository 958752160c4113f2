package lectus.document.body;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.StreamingMode;
import com.apple.foundationdb.async.AsyncIterator;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.concurrent.CompletableFuture;
import lectus.attachment.AttachmentList;
import lectus.json.JsonAssembler;

/**
 * The key-values of one revision, consumed once, while they are read. Until then only the beginning
 * of a long body is in memory, so many bodies may be read ahead.
 */
public final class StoredBody {
  private final Iterator<KeyValue> rows;
  private final int pathOffset;
  private AttachmentList attachments = AttachmentList.NONE;

  private StoredBody(Iterator<KeyValue> rows, int pathOffset) {
    this.rows = rows;
    this.pathOffset = pathOffset;
  }

  /**
   * Wraps key-values that have already been read.
   *
   * @param pathOffset offset in the keys at which the paths begin
   * @param descending whether the last leaf comes first
   */
  public static StoredBody of(List<KeyValue> rows, int pathOffset, boolean descending) {
    return new StoredBody(descending ? backwards(rows) : rows.iterator(), pathOffset);
  }

  /**
   * Begins to read, in one range read, all keys that are {@code prefix} or lie below it.
   *
   * @return completes when the first of them have arrived
   */
  public static CompletableFuture<StoredBody> read(ReadTransaction tx, byte[] prefix) {
    AsyncIterator<KeyValue> rows =
        tx.getRange(
                prefix,
                DocumentsSubspace.endOf(prefix),
                ReadTransaction.ROW_LIMIT_UNLIMITED,
                false,
                StreamingMode.WANT_ALL)
            .iterator();
    return rows.onHasNext().thenApply(any -> new StoredBody(rows, prefix.length));
  }

  /** Whether the revision has anything in the documents subspace, if only its metadata. */
  public boolean isStored() {
    return rows.hasNext();
  }

  /** Returns one body that was read in parts, given in the order of their keys. */
  public static StoredBody inOrder(List<StoredBody> parts, int pathOffset) {
    return new StoredBody(joined(parts), pathOffset);
  }

  /** Consumes the key-values. Throws if the read failed. */
  public void appendTo(JsonAssembler members) {
    while (rows.hasNext()) {
      append(members, rows.next());
    }
    members.finish();
  }

  /** Returns the attachments, once the key-values are consumed. */
  public AttachmentList attachments() {
    return attachments;
  }

  private void append(JsonAssembler members, KeyValue row) {
    byte[] key = row.getKey();
    if (key.length == pathOffset) {
      attachments = DocumentsSubspace.attachmentsIn(row.getValue());
    } else {
      members.leaf(key, pathOffset, row.getValue());
    }
  }

  private static Iterator<KeyValue> backwards(List<KeyValue> rows) {
    return new Iterator<>() {
      private int next = rows.size();

      @Override
      public boolean hasNext() {
        return next > 0;
      }

      @Override
      public KeyValue next() {
        return rows.get(--next);
      }
    };
  }

  private static Iterator<KeyValue> joined(List<StoredBody> parts) {
    return new Iterator<>() {
      private int part;

      @Override
      public boolean hasNext() {
        while (part < parts.size() && !parts.get(part).rows.hasNext()) {
          part++;
        }
        return part < parts.size();
      }

      @Override
      public KeyValue next() {
        if (!hasNext()) {
          throw new NoSuchElementException();
        }
        return parts.get(part).rows.next();
      }
    };
  }
}
