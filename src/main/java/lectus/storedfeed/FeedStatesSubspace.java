package lectus.storedfeed;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.Transaction;
import java.util.Optional;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.derived.StoredFeed;
import lectus.tuple.StoredFormat;
import lectus.tuple.TupleReader;
import lectus.tuple.TupleWriter;

/**
 * The documents that one stored feed could not take.
 *
 * <pre>
 * key    (prefix, FEED_STATES, number, 1, doc id)
 * value  (format 1, reason)
 * </pre>
 *
 * Written without conflict ranges: the revisions subspace decides conflicts.
 */
public final class FeedStatesSubspace {
  private static final StoredFormat FORMAT = new StoredFormat(1, "The state of a stored feed");
  private static final int REFUSED = 1;
  private static final int AFTER = 0xff;

  private final byte[] prefix;

  public FeedStatesSubspace(DatabaseHandle db, StoredFeed feed) {
    this.prefix = DatabaseSubspace.FEED_STATES.key(db.prefix()).integer(feed.number()).toBytes();
  }

  /** A document that the feed could not take. */
  public record Refused(String docId, String reason) {}

  /** Returns the range of the documents that the feed could not take. */
  public Range refused() {
    byte[] begin = refusals().toBytes();
    return new Range(begin, TupleWriter.startingWith(begin).octet(AFTER).toBytes());
  }

  public Refused decodeRefused(KeyValue row) {
    TupleReader key = new TupleReader(row.getKey(), refusals().length());
    return new Refused(
        key.only(TupleReader::string), FORMAT.reader(row.getValue()).only(TupleReader::string));
  }

  /**
   * Returns the row of a document that the feed could not take.
   *
   * @param reason empty: it could
   */
  FeedChange refusal(String docId, Optional<String> reason) {
    return new FeedChange(
        refusals().string(docId).toBytes(),
        reason.map(it -> new TupleWriter(64).integer(FORMAT.number()).string(it).toBytes()),
        FeedChange.Stamped.NOTHING);
  }

  /** Forgets everything about the feed. */
  void clear(Transaction tx) {
    tx.options().setNextWriteNoWriteConflictRange();
    tx.clear(prefix, TupleWriter.startingWith(prefix).octet(AFTER).toBytes());
  }

  private TupleWriter refusals() {
    return TupleWriter.startingWith(prefix).integer(REFUSED);
  }
}
