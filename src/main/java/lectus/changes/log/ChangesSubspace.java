package lectus.changes.log;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.MutationType;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.changes.log.EntryRows.EntryRange;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.database.Sequence;
import lectus.database.ShardId;
import lectus.json.StoredFormat;
import lectus.json.TupleReader;
import lectus.json.TupleWriter;
import lectus.revision.EditBranch;
import lectus.revision.EditBranch.Winner;
import lectus.revision.RevisionHash;
import lectus.revision.RevisionId;
import lectus.store.Versionstamp;

/**
 * The changes index of one database: every document exactly once, in the order of its last edit
 * (RFC 003), by shard (RFC 018).
 *
 * <pre>
 * key    (prefix, CHANGES, shard id, Incarnation, Versionstamp)
 *        (prefix, CHANGES_DEPRECATED, Incarnation, Versionstamp)   in databases from before shards
 * value  (format 1, doc id, position, hash, branch count, not deleted)
 * </pre>
 *
 * A write reads nothing here: the sequence of the entry to clear comes from the winning edit
 * branch, which every edit of the document reads and writes.
 */
public final class ChangesSubspace {
  private static final StoredFormat FORMAT = new StoredFormat(1, "An entry of the changes index");

  private final DatabaseHandle db;
  private final byte[] prefix;

  public ChangesSubspace(DatabaseHandle db) {
    this.db = db;
    this.prefix = DatabaseSubspace.CHANGES.key(db.prefix()).toBytes();
  }

  /**
   * Adds a document's entry under the sequence that its winner has, or that the store assigns when
   * the transaction commits.
   *
   * @param numberInTransaction 0 to 65 535, different for each document of the transaction
   */
  public void insert(
      Transaction tx, ShardId shard, int numberInTransaction, String docId, EditBranch branch) {
    Winner winner = branch.winner();
    TupleWriter value = new TupleWriter(64).integer(FORMAT.number()).string(docId);
    value.integer(branch.leaf().position());
    branch.leaf().hash().writeTo(value);
    byte[] entry = value.integer(winner.branchCount()).bool(!branch.deleted()).toBytes();
    if (winner.sequence() != null) {
      tx.options().setNextWriteNoWriteConflictRange();
      tx.set(key(shard, winner.sequence()), entry);
      return;
    }
    if (shard.isDeprecated()) {
      throw new IllegalArgumentException("The deprecated subspace takes no new entries");
    }
    TupleWriter key = shard(shard).integer(db.incarnation());
    tx.options().setNextWriteNoWriteConflictRange();
    tx.mutate(
        MutationType.SET_VERSIONSTAMPED_KEY,
        Versionstamp.template(key, numberInTransaction),
        entry);
  }

  /** Removes the entry that an earlier edit wrote at {@code sequence} into {@code shard}. */
  public void clear(Transaction tx, ShardId shard, Sequence sequence) {
    tx.options().setNextWriteNoWriteConflictRange();
    tx.clear(key(shard, sequence));
  }

  /** Like {@link #rows}, with all entries decoded. */
  public CompletableFuture<List<ChangeEntry>> read(
      ReadTransaction tx, ShardId shard, EntryRange some) {
    return rows(tx, shard, some).thenApply(EntryRows::entries);
  }

  public CompletableFuture<EntryRows<ChangeEntry>> rows(
      ReadTransaction tx, ShardId shard, EntryRange some) {
    return EntryRows.read(tx, shard(shard), some, ChangesSubspace::decode);
  }

  /**
   * Reads the entry that an edit wrote at {@code sequence} into {@code shard}; empty if it is gone.
   */
  public CompletableFuture<Optional<ChangeEntry>> entry(
      ReadTransaction tx, ShardId shard, Sequence sequence) {
    return tx.get(key(shard, sequence))
        .thenApply(value -> Optional.ofNullable(value).map(it -> decode(sequence, it)));
  }

  public Range range(ShardId shard) {
    return Range.startsWith(shard(shard).toBytes());
  }

  public ChangeEntry decode(ShardId shard, KeyValue row) {
    TupleReader key = new TupleReader(row.getKey(), shard(shard).length());
    Sequence sequence = key.only(Sequence::readFrom);
    return decode(sequence, row.getValue());
  }

  public CompletableFuture<Optional<Sequence>> last(ReadTransaction tx, ShardId shard) {
    return rows(tx, shard, new EntryRange(Optional.empty(), Optional.empty(), 1, true))
        .thenApply(
            newest -> newest.size() == 0 ? Optional.empty() : Optional.of(newest.sequence(0)));
  }

  /**
   * Estimates the size of a shard's entries after {@code after} in bytes; of all if it is empty.
   */
  public CompletableFuture<Long> estimatedBytes(
      ReadTransaction tx, ShardId shard, Optional<Sequence> after) {
    byte[] all = shard(shard).toBytes();
    byte[] begin = after.map(it -> EntryRows.behind(all, it)).orElse(all);
    return tx.getEstimatedRangeSizeBytes(
        begin, new TupleWriter(all).octet(EntryRows.AFTER_SEQUENCES).toBytes());
  }

  private TupleWriter shard(ShardId shard) {
    return shard.isDeprecated()
        ? DatabaseSubspace.CHANGES_DEPRECATED.key(db.prefix())
        : new TupleWriter(prefix).string(shard.text());
  }

  private byte[] key(ShardId shard, Sequence sequence) {
    TupleWriter key = shard(shard);
    sequence.writeTo(key);
    return key.toBytes();
  }

  static ChangeEntry decode(Sequence sequence, byte[] bytes) {
    TupleReader value = FORMAT.reader(bytes);
    String docId = value.string();
    RevisionId winner = new RevisionId(value.integer(), RevisionHash.readFrom(value));
    int branchCount = value.smallInteger();
    boolean deleted = !value.only(TupleReader::bool);
    return new ChangeEntry(sequence, docId, winner, deleted, branchCount);
  }

  /**
   * A document's one entry in the changes index (RFC 003).
   *
   * @param sequence the sequence of the last transaction that modified the document; null while
   *     that transaction is being written
   * @param winner the winning revision, not necessarily made by that transaction
   * @param branchCount number of the document's edit branches, deleted ones included; if 1, {@code
   *     style=all_docs} needs no further read
   */
  public record ChangeEntry(
      Sequence sequence, String docId, RevisionId winner, boolean deleted, int branchCount) {
    /** Returns the entry of a document with this winning branch. */
    public static ChangeEntry of(String docId, EditBranch branch) {
      Winner winner = branch.winner();
      return new ChangeEntry(
          winner.sequence(), docId, branch.leaf(), branch.deleted(), winner.branchCount());
    }
  }
}
