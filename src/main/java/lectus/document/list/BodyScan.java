package lectus.document.list;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.StreamingMode;
import com.apple.foundationdb.async.AsyncIterator;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import lectus.attachment.AttachmentList;
import lectus.document.StoredBody;
import lectus.json.JsonAssembler;
import lectus.tuple.TupleReader;

/**
 * Reads the bodies of a page of documents in one range read, in step with the page's rows. It skips
 * what lies in between: losing revisions and the bodies of tombstones.
 */
final class BodyScan implements AutoCloseable {
  private final AsyncIterator<KeyValue> rows;
  private final boolean descending;
  private final List<KeyValue> leaves = new ArrayList<>();
  private KeyValue next;

  /** Reads the keys from {@code begin} to {@code end} (exclusive), in either direction. */
  BodyScan(ReadTransaction tx, byte[] begin, byte[] end, boolean descending) {
    this.rows =
        tx.getRange(
                begin, end, ReadTransaction.ROW_LIMIT_UNLIMITED, descending, StreamingMode.WANT_ALL)
            .iterator();
    this.descending = descending;
    advance();
  }

  /**
   * Appends the body whose keys begin with {@code prefix}. Each prefix has to lie after the
   * previous one in the order of the scan.
   *
   * @return the attachments of the revision
   */
  AttachmentList append(byte[] prefix, JsonAssembler members) {
    while (next != null && liesBefore(prefix)) {
      advance();
    }
    leaves.clear();
    while (next != null && TupleReader.isAtOrBelow(prefix, next.getKey())) {
      leaves.add(next);
      advance();
    }
    StoredBody body = StoredBody.of(leaves, prefix.length, descending);
    body.appendTo(members);
    return body.attachments();
  }

  private boolean liesBefore(byte[] prefix) {
    int order = Arrays.compareUnsigned(next.getKey(), prefix);
    return descending ? order > 0 && !TupleReader.isAtOrBelow(prefix, next.getKey()) : order < 0;
  }

  private void advance() {
    next = rows.hasNext() ? rows.next() : null;
  }

  @Override
  public void close() {
    rows.cancel();
  }
}
