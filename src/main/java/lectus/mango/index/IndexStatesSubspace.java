package lectus.mango.index;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.Transaction;
import java.util.Optional;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.tuple.StoredFormat;
import lectus.tuple.TupleReader;
import lectus.tuple.TupleWriter;

/**
 * Which documents the indexes of a database could not take.
 *
 * <pre>
 * key    (prefix, INDEX_STATES, number, 1, doc id)
 * value  (format 1, reason)
 * </pre>
 *
 * Written without conflict ranges: the revisions subspace decides conflicts of documents.
 */
public final class IndexStatesSubspace {
  private static final StoredFormat FORMAT = new StoredFormat(1, "The state of an index");
  private static final int REFUSED = 1;
  private static final int AFTER = 0xff;

  private final byte[] prefix;

  public IndexStatesSubspace(DatabaseHandle db) {
    this.prefix = DatabaseSubspace.INDEX_STATES.key(db.prefix()).toBytes();
  }

  /** A document that an index could not take. */
  public record Refused(String docId, String reason) {}

  /** Returns the range of the documents that an index could not take. */
  public Range refused(long index) {
    byte[] begin = key(index).integer(REFUSED).toBytes();
    return new Range(begin, TupleWriter.startingWith(begin).octet(AFTER).toBytes());
  }

  public Refused decodeRefused(long index, KeyValue row) {
    TupleReader key = new TupleReader(row.getKey(), key(index).integer(REFUSED).length());
    return new Refused(
        key.only(TupleReader::string), FORMAT.reader(row.getValue()).only(TupleReader::string));
  }

  /** Returns the row of a document that an index could not take. */
  EntryChange refusal(long index, String docId, Optional<String> reason) {
    return new EntryChange(
        key(index).integer(REFUSED).string(docId).toBytes(),
        reason.map(it -> new TupleWriter(64).integer(FORMAT.number()).string(it).toBytes()));
  }

  /** Forgets everything about an index. */
  void clear(Transaction tx, long index) {
    byte[] begin = key(index).toBytes();
    tx.options().setNextWriteNoWriteConflictRange();
    tx.clear(begin, TupleWriter.startingWith(begin).octet(AFTER).toBytes());
  }

  private TupleWriter key(long index) {
    return TupleWriter.startingWith(prefix).integer(index);
  }
}
