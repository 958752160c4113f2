package lectus.changes.log;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.MutationType;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.database.Sequence;
import lectus.store.Awaiting;
import lectus.store.Versionstamp;
import lectus.tuple.StoredFormat;
import lectus.tuple.TupleReader;
import lectus.tuple.TupleWriter;

/**
 * Documents that left the changes index without an entry, because nothing is left of them after a
 * purge. Followers, such as views, read the rows as one more shard; without followers there are
 * none.
 *
 * <pre>
 * key    (prefix, GONE, 0, number of a follower)       value  (format 1)
 * key    (prefix, GONE, 1, Incarnation, Versionstamp)  value  (format 1, doc id)
 * </pre>
 *
 * A transaction that purges reads whether there are followers, with a read conflict. So none misses
 * a purge that commits after it was registered.
 */
public final class GoneSubspace {
  private static final StoredFormat FOLLOWER = new StoredFormat(1, "A follower of changes");
  private static final StoredFormat FORMAT = new StoredFormat(1, "A document that is gone");
  private static final int AFTER_SEQUENCES = 0xff;

  private final byte[] prefix;
  private final byte[] followers;
  private final byte[] rows;
  private final int incarnation;

  public GoneSubspace(DatabaseHandle db) {
    this.prefix = db.prefix();
    this.followers = DatabaseSubspace.GONE.key(db.prefix()).integer(0).toBytes();
    this.rows = DatabaseSubspace.GONE.key(db.prefix()).integer(1).toBytes();
    this.incarnation = db.incarnation();
  }

  /** A document that is gone. */
  public record Gone(Sequence sequence, String docId) {}

  /** From now on rows are kept. */
  public void register(Transaction tx, long follower) {
    tx.set(follower(follower), new TupleWriter(4).integer(FOLLOWER.number()).toBytes());
  }

  /** Without followers no rows are kept. */
  public void unregister(Transaction tx, long follower) {
    tx.clear(follower(follower));
    if (!isFollowed(tx)) {
      tx.clear(Range.startsWith(rows));
    }
  }

  /** Whether anybody follows; the transaction conflicts with a change of that. */
  public boolean isFollowed(ReadTransaction tx) {
    return !Awaiting.await(tx.getRange(Range.startsWith(followers), 1).asList()).isEmpty();
  }

  /**
   * @param numberInTransaction 0 to 65 535, different for each document of the transaction
   */
  public void insert(Transaction tx, int numberInTransaction, String docId) {
    TupleWriter key = TupleWriter.startingWith(rows).integer(incarnation);
    tx.options().setNextWriteNoWriteConflictRange();
    tx.mutate(
        MutationType.SET_VERSIONSTAMPED_KEY,
        Versionstamp.template(key, numberInTransaction),
        new TupleWriter(64).integer(FORMAT.number()).string(docId).toBytes());
  }

  /** Reads the oldest rows after a sequence; of all if it is empty. */
  public CompletableFuture<List<Gone>> after(
      ReadTransaction tx, Optional<Sequence> after, int limit) {
    byte[] begin = after.map(this::behind).orElse(rows);
    return tx.getRange(
            begin, TupleWriter.startingWith(rows).octet(AFTER_SEQUENCES).toBytes(), limit)
        .asList()
        .thenApply(found -> found.stream().map(this::decode).toList());
  }

  /** Whether more rows than this follow a sequence. */
  public boolean hasMoreThan(ReadTransaction tx, Optional<Sequence> after, int limit) {
    return Awaiting.await(after(tx, after, limit + 1)).size() > limit;
  }

  public Range range() {
    return DatabaseSubspace.GONE.range(prefix);
  }

  /**
   * Checks that a row can be read.
   *
   * @throws lectus.tuple.MalformedTupleException it cannot
   */
  public void check(KeyValue row) {
    if (TupleReader.isAtOrBelow(rows, row.getKey())) {
      decode(row);
    } else {
      new TupleReader(row.getKey(), followers.length).only(TupleReader::integer);
      FOLLOWER.only(row.getValue());
    }
  }

  private Gone decode(KeyValue row) {
    return new Gone(
        new TupleReader(row.getKey(), rows.length).only(Sequence::readFrom),
        FORMAT.reader(row.getValue()).only(TupleReader::string));
  }

  /** Removes the rows up to a sequence, which all followers have seen. */
  public void clear(Transaction tx, Sequence until) {
    tx.options().setNextWriteNoWriteConflictRange();
    tx.clear(rows, behind(until));
  }

  private byte[] follower(long number) {
    return TupleWriter.startingWith(followers).integer(number).toBytes();
  }

  private byte[] behind(Sequence sequence) {
    TupleWriter key = TupleWriter.startingWith(rows);
    sequence.writeTo(key);
    byte[] bytes = key.toBytes();
    return Arrays.copyOf(bytes, bytes.length + 1);
  }
}
