package lectus.document.read;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.StreamingMode;
import com.apple.foundationdb.async.AsyncIterator;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import lectus.attachment.AttachmentList;
import lectus.database.DatabaseHandle;
import lectus.document.AttachmentJson;
import lectus.document.DocumentJson;
import lectus.document.DocumentsSubspace;
import lectus.document.RowParts;
import lectus.document.StoredBody;
import lectus.document.WrittenRows;
import lectus.document.read.AllDocs.KeyReads.ConflictReads;
import lectus.document.read.AllDocsSubspace.AllDocsRow;
import lectus.json.JsonAssembler;
import lectus.json.JsonBuffer;
import lectus.json.TupleReader;
import lectus.store.Awaiting;

/**
 * The rows of a range of ids.
 *
 * @param last the id of the last row read; empty at the beginning
 * @param skip number of rows still to skip
 * @param limit number of rows still to append
 */
record RangeRows(
    AllDocsQuery query, Optional<String> last, long skip, long limit, boolean isFinished)
    implements ListRows {
  /**
   * Maximum number of reads that skip rows in one transaction, which lasts five seconds at most.
   */
  private static final int SKIPPING_READS = 50;

  RangeRows(AllDocsQuery query) {
    this(query, Optional.empty(), query.skip(), query.limit(), query.limit() == 0);
  }

  @Override
  public ListRows append(ReadTransaction tx, DatabaseHandle db, ListRowWriter writer) {
    ListSource source = new ListSource(query, db);
    RangeRows at = this;
    for (int reads = 0; at.skip > 0 && !at.isFinished; reads++) {
      if (reads == SKIPPING_READS) {
        return at;
      }
      int count = (int) Math.min(writer.limits().rows(), at.skip);
      List<KeyValue> rows = at.read(tx, source, count);
      at = at.behind(source, rows, rows.size() < count).skipping(rows.size());
    }
    return at.isFinished ? at : at.appendRows(tx, db, source, writer);
  }

  private RangeRows appendRows(
      ReadTransaction tx, DatabaseHandle db, ListSource source, ListRowWriter writer) {
    int count = (int) Math.min(writer.limits().rows(query.includeDocs()), limit);
    List<KeyValue> read = read(tx, source, count);
    List<AllDocsRow> rows = read.stream().map(source::decode).toList();
    int appended =
        query.includeDocs() && !rows.isEmpty()
            ? appendWithBodies(tx, db, source, rows, writer)
            : append(rows, writer);
    boolean atEnd = appended == rows.size() && rows.size() < count;
    return behind(source, read.subList(0, appended), atEnd).limiting(appended);
  }

  private static int append(List<AllDocsRow> rows, ListRowWriter writer) {
    int appended = 0;
    while (appended < rows.size() && !writer.isFull()) {
      AllDocsRow row = rows.get(appended++);
      writer.open(row.id(), row.winner(), false);
      writer.close();
    }
    return appended;
  }

  private int appendWithBodies(
      ReadTransaction tx,
      DatabaseHandle db,
      ListSource source,
      List<AllDocsRow> rows,
      ListRowWriter writer) {
    RowParts.Writing<AllDocsRow> writing = (part, to) -> write(tx, db, source, part, to);
    int before = writer.framed();
    try (RowParts<AllDocsRow> parts =
        new RowParts<>(tx.getExecutor(), writer.out(), writer.fullAt(), writing)) {
      parts.append(rows.iterator(), writer);
    }
    return writer.framed() - before;
  }

  private void write(
      ReadTransaction tx,
      DatabaseHandle db,
      ListSource source,
      List<AllDocsRow> rows,
      WrittenRows to) {
    byte[] first = source.bodies(rows.get(0).id());
    byte[] last = source.bodies(rows.get(rows.size() - 1).id());
    byte[] begin = query.descending() ? last : first;
    byte[] end = DocumentsSubspace.endOf(query.descending() ? first : last);
    ConflictReads conflicts = new ConflictReads(tx, db, query.conflicts());
    AttachmentJson shown = new AttachmentJson(query.attachments());
    JsonBuffer out = to.json();
    try (BodyScan bodies = new BodyScan(tx, begin, end, query.descending())) {
      for (AllDocsRow row : rows) {
        ListRowWriter.open(out, row.id(), row.winner(), false);
        ListRowWriter.beginDocument(out);
        JsonAssembler members = DocumentJson.open(out, row.id(), row.winner());
        AttachmentList attachments = bodies.append(source.body(row), members);
        conflicts.append(row, out);
        shown.close(out, attachments);
        out.octet('}');
        to.endRow();
      }
    }
  }

  private List<KeyValue> read(ReadTransaction tx, ListSource source, int count) {
    boolean descending = query.descending();
    byte[] low =
        !descending && last.isPresent()
            ? source.keyAfter(last.get())
            : source.lowest(
                descending ? query.end() : query.start(), !descending || query.inclusiveEnd());
    Optional<byte[]> high =
        descending && last.isPresent()
            ? last.map(source::key)
            : source.highest(
                descending ? query.start() : query.end(), descending || query.inclusiveEnd());
    return high.isEmpty()
        ? List.of()
        : Awaiting.await(
            tx.getRange(low, high.get(), count, descending, StreamingMode.WANT_ALL).asList());
  }

  private RangeRows behind(ListSource source, List<KeyValue> rows, boolean atEnd) {
    Optional<String> id =
        rows.isEmpty() ? last : Optional.of(source.decode(rows.get(rows.size() - 1)).id());
    return new RangeRows(query, id, skip, limit, atEnd);
  }

  private RangeRows skipping(int count) {
    return new RangeRows(query, last, skip - count, limit, isFinished);
  }

  private RangeRows limiting(int count) {
    return new RangeRows(query, last, skip, limit - count, isFinished || limit == count);
  }

  /**
   * Reads the bodies of a page of documents in one range read, in step with the page's rows. It
   * skips what lies in between: losing revisions and the bodies of tombstones.
   */
  private static final class BodyScan implements AutoCloseable {
    private final AsyncIterator<KeyValue> rows;
    private final boolean descending;
    private final List<KeyValue> leaves = new ArrayList<>();
    private KeyValue next;

    /** Reads the keys from {@code begin} to {@code end} (exclusive), in either direction. */
    BodyScan(ReadTransaction tx, byte[] begin, byte[] end, boolean descending) {
      this.rows =
          tx.getRange(
                  begin,
                  end,
                  ReadTransaction.ROW_LIMIT_UNLIMITED,
                  descending,
                  StreamingMode.WANT_ALL)
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
}
