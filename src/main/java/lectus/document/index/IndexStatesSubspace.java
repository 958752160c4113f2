package lectus.document.index;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.tuple.StoredFormat;
import lectus.tuple.TupleReader;
import lectus.tuple.TupleWriter;

/**
 * Which documents the indexes of a database could not take, and how far an earlier version built
 * them.
 *
 * <pre>
 * key    (prefix, INDEX_STATES, number, 0)
 * value  (format 1, documents seen, entries written, doc id)
 * key    (prefix, INDEX_STATES, number, 1, doc id)
 * value  (format 1, reason)
 * </pre>
 *
 * The first row is an earlier version's, which built indexes in the order of ids: all documents up
 * to the id are in the index. The others are written without conflict ranges: the revisions
 * subspace decides conflicts of documents.
 */
public final class IndexStatesSubspace {
  private static final StoredFormat FORMAT = new StoredFormat(1, "The state of an index");
  private static final int PROGRESS = 0;
  private static final int REFUSED = 1;
  private static final int AFTER = 0xff;

  private final byte[] prefix;

  public IndexStatesSubspace(DatabaseHandle db) {
    this.prefix = DatabaseSubspace.INDEX_STATES.key(db.prefix()).toBytes();
  }

  /**
   * How far an earlier version has built an index.
   *
   * @param last the last document that was looked at
   */
  record FormerProgress(long documents, long entries, String last) {}

  /** A document that an index could not take. */
  public record Refused(String docId, String reason) {}

  CompletableFuture<Optional<FormerProgress>> formerProgress(ReadTransaction tx, long index) {
    return tx.snapshot()
        .get(progressKey(index))
        .thenApply(value -> Optional.ofNullable(value).map(IndexStatesSubspace::formerProgress));
  }

  private static FormerProgress formerProgress(byte[] value) {
    return FORMAT
        .reader(value)
        .only(it -> new FormerProgress(it.integer(), it.integer(), it.string()));
  }

  void clearFormerProgress(Transaction tx, long index) {
    tx.clear(progressKey(index));
  }

  /** Returns the ranges of all rows of an index. */
  public List<Range> ranges(long index) {
    byte[] progress = progressKey(index);
    return List.of(
        new Range(progress, Arrays.copyOf(progress, progress.length + 1)), refused(index));
  }

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

  private byte[] progressKey(long index) {
    return key(index).integer(PROGRESS).toBytes();
  }

  private TupleWriter key(long index) {
    return TupleWriter.startingWith(prefix).integer(index);
  }
}
