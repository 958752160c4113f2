package lectus.document.alldocs;

import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.StreamingMode;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.changes.UpdateSequence;
import lectus.database.DatabaseCounters;
import lectus.database.DatabaseHandle;
import lectus.database.Sequence;
import lectus.document.alldocs.AllDocsQuery.Listing;
import lectus.json.JsonBuffer;
import lectus.store.Awaiting;

/**
 * Writes what precedes the rows of a list: {@code total_rows}, {@code offset}, {@code update_seq}.
 *
 * <p>The offset is the number of rows before the answer's first row. It is exact if the range has
 * no start or if few rows lie before it. Otherwise only a scan could tell, so it is estimated from
 * the share of the list's bytes that lie before the range.
 */
final class ListHead {
  /** Maximum number of rows counted one by one. */
  private static final int COUNTED_ROWS = 1_000;

  private final ReadTransaction tx;
  private final DatabaseHandle db;
  private final AllDocsQuery query;

  ListHead(ReadTransaction tx, DatabaseHandle db, AllDocsQuery query) {
    this.tx = tx;
    this.db = db;
    this.query = query;
  }

  void append(JsonBuffer out) {
    if (query.listing() == Listing.LOCAL) {
      out.ascii("{\"total_rows\":null,\"offset\":null");
      appendUpdateSequence(out, Optional.empty());
    } else {
      CompletableFuture<Optional<Sequence>> sequence =
          query.updateSeq() && query.keys().isEmpty()
              ? new UpdateSequence(db).read(tx)
              : CompletableFuture.completedFuture(Optional.empty());
      long total = total();
      out.ascii("{\"total_rows\":").number(total).ascii(",\"offset\":");
      if (query.keys().isPresent()) {
        out.nil();
      } else {
        out.number(Math.min(total, offset(total)));
      }
      appendUpdateSequence(out, Awaiting.await(sequence));
    }
    out.ascii(",\"rows\":[\r\n");
  }

  private void appendUpdateSequence(JsonBuffer out, Optional<Sequence> sequence) {
    if (!query.updateSeq()) {
      return;
    }
    out.ascii(",\"update_seq\":");
    if (query.keys().isPresent() || query.listing() == Listing.LOCAL) {
      out.nil();
    } else {
      out.string(sequence.map(Sequence::toString).orElse("0"));
    }
  }

  /** Design documents are few, so they are counted. */
  private long total() {
    if (query.listing() == Listing.DESIGN) {
      ListSource design = LiveDocuments.design(db);
      return count(design.begin(), design.end(), ReadTransaction.ROW_LIMIT_UNLIMITED);
    }
    CompletableFuture<DatabaseCounters> statistics =
        query
            .partition()
            .map(partition -> DatabaseCounters.ofPartition(tx, db, partition))
            .orElseGet(() -> DatabaseCounters.read(tx, db));
    return Awaiting.await(statistics).documents();
  }

  private long offset(long total) {
    if (query.start().isEmpty()) {
      return query.skip();
    }
    ListSource source = ListSource.of(query, db);
    byte[] begin = source.begin();
    byte[] end = source.end();
    if (query.descending()) {
      begin = ListBounds.highest(source, query.start(), true).orElse(begin);
    } else {
      end = ListBounds.lowest(source, query.start(), true).orElse(end);
    }
    long before = rowsBetween(source, begin, end, total);
    return query.skip() > Long.MAX_VALUE - before ? Long.MAX_VALUE : before + query.skip();
  }

  private long rowsBetween(ListSource source, byte[] begin, byte[] end, long total) {
    long counted = count(begin, end, COUNTED_ROWS);
    if (counted < COUNTED_ROWS) {
      return counted;
    }
    CompletableFuture<Long> part = tx.getEstimatedRangeSizeBytes(begin, end);
    CompletableFuture<Long> whole = tx.getEstimatedRangeSizeBytes(source.begin(), source.end());
    double share = (double) Awaiting.await(part) / Math.max(1, Awaiting.await(whole));
    return Math.max(counted, Math.round(Math.min(1, share) * total));
  }

  private long count(byte[] begin, byte[] end, int limit) {
    List<?> rows =
        Awaiting.await(tx.getRange(begin, end, limit, false, StreamingMode.WANT_ALL).asList());
    return rows.size();
  }
}
