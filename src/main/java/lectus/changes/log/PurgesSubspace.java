package lectus.changes.log;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.MutationType;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import com.apple.foundationdb.async.AsyncIterator;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.database.Sequence;
import lectus.json.MalformedTupleException;
import lectus.json.StoredFormat;
import lectus.json.TupleReader;
import lectus.json.TupleWriter;
import lectus.revision.RevisionHash;
import lectus.revision.RevisionId;
import lectus.store.Versionstamp;

/**
 * The latest purges of one database, in their order.
 *
 * <pre>
 * key    (prefix, PURGES, Incarnation, Versionstamp)
 * value  (format 1, doc id, position, hash, position, hash, …)
 * </pre>
 *
 * Written without conflict ranges, as the changes index is: the edit branches decide what
 * conflicts. Whether there is a row is part of the database's handle, so the transaction that
 * writes the first one moves the version key.
 */
public final class PurgesSubspace {
  /** Maximum number of rows, whatever a database's own limit. */
  public static final int MAX_ROWS = 10_000;

  /** Maximum size of a row's leaves, so that the value stays below the store's limit. */
  public static final int MAX_BYTES = 80_000;

  private static final StoredFormat FORMAT = new StoredFormat(1, "A purge");

  /** What a leaf takes beside its hash, all bytes of which may be escaped. */
  private static final int LEAF_BYTES = 12;

  private final byte[] prefix;
  private final int incarnation;
  private final boolean mayHaveRows;

  public PurgesSubspace(DatabaseHandle db) {
    this.prefix = DatabaseSubspace.PURGES.key(db.prefix()).toBytes();
    this.incarnation = db.incarnation();
    this.mayHaveRows = db.mayHavePurges();
  }

  /** One document's part of a purge. */
  public record Purge(Sequence sequence, String docId, List<RevisionId> leaves) {}

  /** Returns an upper bound of what leaves take in a row, in bytes. */
  public static int sizeOf(List<RevisionId> leaves) {
    return leaves.stream().mapToInt(it -> LEAF_BYTES + 2 * it.hash().bytes().length).sum();
  }

  /**
   * Adds a row under the sequence that the store assigns when the transaction commits.
   *
   * @param numberInTransaction 0 to 65 535, different for each document of the transaction
   */
  public void insert(
      Transaction tx, int numberInTransaction, String docId, List<RevisionId> leaves) {
    TupleWriter key = new TupleWriter(prefix).integer(incarnation);
    tx.options().setNextWriteNoWriteConflictRange();
    tx.mutate(
        MutationType.SET_VERSIONSTAMPED_KEY,
        Versionstamp.template(key, numberInTransaction),
        encode(docId, leaves));
  }

  /**
   * Removes all rows but the newest. Call it before the transaction inserts any, since rows without
   * their sequence cannot be read.
   */
  public void keep(Transaction tx, int rows) {
    AsyncIterator<KeyValue> newestFirst =
        tx.snapshot().getRange(range(), rows + 1, true).iterator();
    try {
      int kept = 0;
      while (newestFirst.hasNext()) {
        byte[] key = newestFirst.next().getKey();
        if (kept++ == rows) {
          tx.options().setNextWriteNoWriteConflictRange();
          tx.clear(prefix, Arrays.copyOf(key, key.length + 1));
        }
      }
    } finally {
      newestFirst.cancel();
    }
  }

  /**
   * Returns the sequence of the latest purge; empty if nothing was ever purged, which the handle
   * usually says without a read.
   */
  public CompletableFuture<Optional<Sequence>> last(ReadTransaction tx) {
    if (!mayHaveRows) {
      return CompletableFuture.completedFuture(Optional.empty());
    }
    return tx.getRange(range(), 1, true)
        .asList()
        .thenApply(rows -> rows.stream().findFirst().map(this::sequence));
  }

  /** Reads the oldest rows after {@code after}; of all if it is empty. */
  public CompletableFuture<List<Purge>> after(
      ReadTransaction tx, Optional<Sequence> after, int limit) {
    return rows(tx, after, limit).thenApply(rows -> rows.stream().map(this::decode).toList());
  }

  /** As {@link #after}, as they are stored. */
  public CompletableFuture<List<KeyValue>> rows(
      ReadTransaction tx, Optional<Sequence> after, int limit) {
    byte[] begin = after.map(it -> EntryRows.behind(prefix, it)).orElse(prefix);
    return tx.getRange(begin, range().end, limit).asList();
  }

  public Range range() {
    return new Range(prefix, new TupleWriter(prefix).octet(EntryRows.AFTER_SEQUENCES).toBytes());
  }

  /**
   * Checks a row that comes from elsewhere.
   *
   * @throws MalformedTupleException if it is none
   */
  public void check(KeyValue row) {
    if (!TupleReader.isAtOrBelow(prefix, row.getKey())) {
      throw new MalformedTupleException("A row is out of place");
    }
    decode(row);
  }

  public Purge decode(KeyValue row) {
    TupleReader value = FORMAT.reader(row.getValue());
    String docId = value.string();
    List<RevisionId> leaves = new ArrayList<>();
    while (value.hasNext()) {
      leaves.add(new RevisionId(value.integer(), RevisionHash.readFrom(value)));
    }
    return new Purge(sequence(row), docId, leaves);
  }

  private Sequence sequence(KeyValue row) {
    return new TupleReader(row.getKey(), prefix.length).only(Sequence::readFrom);
  }

  private static byte[] encode(String docId, List<RevisionId> leaves) {
    TupleWriter value = new TupleWriter(64).integer(FORMAT.number()).string(docId);
    for (RevisionId leaf : leaves) {
      value.integer(leaf.position());
      leaf.hash().writeTo(value);
    }
    return value.toBytes();
  }
}
