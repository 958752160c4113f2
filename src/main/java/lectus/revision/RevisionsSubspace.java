package lectus.revision;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.MutationType;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.database.Sequence;
import lectus.json.StoredFormat;
import lectus.json.TupleReader;
import lectus.json.TupleWriter;
import lectus.revision.EditBranch.BodySize;
import lectus.revision.EditBranch.Winner;
import lectus.store.Awaiting;
import lectus.store.Versionstamp;

/**
 * The edit branches of one database's documents, one key and value each (<a
 * href="https://github.com/apache/couchdb/blob/main/src/docs/rfcs/001-fdb-revision-metadata-model.md">RFC
 * 001</a>).
 *
 * <pre>
 * key    (prefix, REVISIONS, doc id, not deleted, position, hash)   hash: {@link RevisionHash}
 * value  winning branch  (format 1, Incarnation, Versionstamp, branch count, body) ancestors
 *        or              (format 2, Incarnation, Versionstamp, branch count, others, body) ancestors
 *        losing branch   (format 1, nil, body) ancestors
 * others     = the leaves of the other branches, a byte string ({@link OtherLeaves}). Format 1 has
 *              none: there is no other branch, or there are more than can be listed
 * body       = external bytes, stored bytes, nil. With attachments the formats are 3 and 4 in place
 *              of 1 and 2, and their number stands in place of the nil
 * ancestors  = {@link Ancestors}, not a tuple
 * </pre>
 *
 * The winning branch is the last key of its document. This subspace is written with conflict
 * ranges: it alone decides whether two edits of a document conflict.
 */
public final class RevisionsSubspace {
  private static final int PLAIN = 1;
  private static final int WITH_OTHERS = 2;

  /** Added to the format of a branch with attachments. */
  private static final int WITH_ATTACHMENTS = 2;

  private static final StoredFormat FORMAT =
      new StoredFormat(WITH_OTHERS + WITH_ATTACHMENTS, "An edit branch");

  /** Above every type code with which the tuple encoding of a boolean begins. */
  private static final int AFTER_BRANCHES = 0xff;

  private final DatabaseHandle db;
  private final byte[] prefix;

  public RevisionsSubspace(DatabaseHandle db) {
    this.db = db;
    this.prefix = DatabaseSubspace.REVISIONS.key(db.prefix()).toBytes();
  }

  /** Reads the winning branch in one round trip; empty if the document was never written. */
  public CompletableFuture<Optional<EditBranch>> winner(ReadTransaction tx, String docId) {
    return branches(tx, docId, Optional.empty(), 1)
        .thenApply(rows -> rows.isEmpty() ? Optional.empty() : Optional.of(rows.get(0)));
  }

  /**
   * Reads what the branch with this live leaf has as the winner; empty if it does not win. One key
   * in one round trip, of which the ancestors are not decoded.
   */
  public CompletableFuture<Optional<Winner>> asWinner(
      ReadTransaction tx, String docId, RevisionId leaf) {
    return tx.get(key(docId, false, leaf))
        .thenApply(value -> Optional.ofNullable(value).flatMap(RevisionsSubspace::winnerOf));
  }

  /** Reads the winning branch and the one that comes after it, if there are so many. */
  public CompletableFuture<List<EditBranch>> winnerAndNext(ReadTransaction tx, String docId) {
    return branches(tx, docId, Optional.empty(), 2);
  }

  /**
   * Reads the branch with this leaf; empty if there is none. One key in one round trip.
   *
   * @param deleted whether the leaf is a tombstone, which is part of the key
   */
  public CompletableFuture<Optional<EditBranch>> branch(
      ReadTransaction tx, String docId, boolean deleted, RevisionId leaf) {
    return tx.get(key(docId, deleted, leaf))
        .thenApply(
            value ->
                value == null ? Optional.empty() : Optional.of(decodeValue(leaf, deleted, value)));
  }

  /** Reads all branches, the winner first, in one round trip. */
  public CompletableFuture<List<EditBranch>> branches(ReadTransaction tx, String docId) {
    return branches(tx, docId, Optional.empty(), ReadTransaction.ROW_LIMIT_UNLIMITED);
  }

  /**
   * Reads the branches that come behind one, in the order of {@link #branches(ReadTransaction,
   * String)}, in one round trip.
   *
   * @param behind empty: from the winner on
   */
  public CompletableFuture<List<EditBranch>> branches(
      ReadTransaction tx, String docId, Optional<EditBranch> behind, int limit) {
    TupleWriter range = document(docId);
    int branchOffset = range.length();
    byte[] begin = range.toBytes();
    byte[] end =
        behind
            .map(it -> key(docId, it.deleted(), it.leaf()))
            .orElseGet(() -> range.octet(AFTER_BRANCHES).toBytes());
    return decodeAll(tx.getRange(begin, end, limit, true).asList(), branchOffset);
  }

  /** A document's id and its winning branch. */
  public record Won(String docId, EditBranch winner) {}

  /**
   * Reads the winning branches of the documents behind one, in the order of their ids, in one round
   * trip, or two for a document with more branches than are read.
   *
   * @param behind empty: from the first document on
   * @param branches how many are read
   * @return of one document at least, unless there are no others
   */
  public List<Won> winners(ReadTransaction tx, Optional<String> behind, int branches) {
    byte[] begin = behind.map(it -> document(it).octet(AFTER_BRANCHES).toBytes()).orElse(prefix);
    byte[] end = new TupleWriter(prefix).octet(AFTER_BRANCHES).toBytes();
    List<Won> won = new ArrayList<>(branches);
    String last = "";
    for (KeyValue row : Awaiting.await(tx.getRange(begin, end, branches).asList())) {
      TupleReader key = new TupleReader(row.getKey(), prefix.length);
      last = key.string();
      EditBranch branch = decode(row, key.position());
      if (branch.isWinner()) {
        won.add(new Won(last, branch));
      }
    }
    if (won.isEmpty() && !last.isEmpty()) {
      won.add(new Won(last, Awaiting.await(winner(tx, last)).orElseThrow()));
    }
    return won;
  }

  /**
   * Reads the live branch with this leaf and the branch right before it, which wins once this one
   * is deleted: at most two adjacent keys in one round trip. The first of the list is the requested
   * branch only if it has that leaf.
   */
  public CompletableFuture<List<EditBranch>> withNextInLine(
      ReadTransaction tx, String docId, RevisionId leaf) {
    TupleWriter begin = document(docId);
    int branchOffset = begin.length();
    byte[] end = key(docId, false, leaf);
    return decodeAll(
        tx.getRange(begin.toBytes(), Arrays.copyOf(end, end.length + 1), 2, true).asList(),
        branchOffset);
  }

  /**
   * Writes a branch. The store fills in a winner's sequence when the transaction commits, unless it
   * is known.
   */
  public void put(Transaction tx, String docId, EditBranch branch, int numberInTransaction) {
    byte[] key = key(docId, branch.deleted(), branch.leaf());
    TupleWriter value = new TupleWriter(64 + branch.ancestors().sizeBytes());
    if (!branch.isWinner()) {
      writeTail(value.integer(PLAIN + ofAttachments(branch)).nil(), branch);
      tx.set(key, value.toBytes());
      return;
    }
    int stampOffset = writeWinner(value, branch, numberInTransaction);
    writeTail(value, branch);
    if (branch.winner().sequence() != null) {
      tx.set(key, value.toBytes());
      return;
    }
    tx.mutate(
        MutationType.SET_VERSIONSTAMPED_VALUE,
        key,
        Versionstamp.template(value.toBytes(), stampOffset));
  }

  /** Returns the offset of the versionstamp that the store fills in. */
  private int writeWinner(TupleWriter value, EditBranch branch, int numberInTransaction) {
    Winner winner = branch.winner();
    Optional<OtherLeaves> others = winner.others().filter(it -> it.count() > 0);
    int format = others.isPresent() ? WITH_OTHERS : PLAIN;
    value.integer(format + ofAttachments(branch));
    Sequence sequence = winner.sequence();
    int stampOffset = 0;
    if (sequence == null) {
      stampOffset = Versionstamp.append(value.integer(db.incarnation()), numberInTransaction);
    } else {
      sequence.writeTo(value);
    }
    value.integer(winner.branchCount());
    others.ifPresent(it -> value.bytes(it.toBytes()));
    return stampOffset;
  }

  public void clear(Transaction tx, String docId, EditBranch branch) {
    tx.clear(key(docId, branch.deleted(), branch.leaf()));
  }

  public void conflictWithEdits(Transaction tx, String docId) {
    TupleWriter range = document(docId);
    byte[] begin = range.toBytes();
    tx.addReadConflictRange(begin, range.octet(AFTER_BRANCHES).toBytes());
  }

  /** Returns an upper bound of the size of a branch's key, in bytes. */
  public int keySizeBound(String docId, RevisionId leaf) {
    int otherElements = 16;
    return prefix.length
        + TupleWriter.lengthOf(docId)
        + 2 * leaf.hash().bytes().length
        + otherElements;
  }

  /** Returns an upper bound of the size of a branch's row, in bytes. */
  public int sizeBound(String docId, EditBranch branch) {
    return keySizeBound(docId, branch.leaf()) + valueSizeBound(branch);
  }

  /** Returns an upper bound of the size of a branch's value, in bytes. */
  public int valueSizeBound(EditBranch branch) {
    int otherElements = 64;
    int othersBound = 2 * OtherLeaves.MOST * Integer.BYTES;
    boolean mayList = branch.isWinner() && branch.winner().branchCount() > 1;
    return otherElements + (mayList ? othersBound : 0) + branch.ancestors().sizeBytes();
  }

  private static CompletableFuture<List<EditBranch>> decodeAll(
      CompletableFuture<List<KeyValue>> rows, int branchOffset) {
    return rows.thenApply(
        found -> {
          List<EditBranch> branches = new ArrayList<>(found.size());
          for (KeyValue row : found) {
            branches.add(decode(row, branchOffset));
          }
          return branches;
        });
  }

  private TupleWriter document(String docId) {
    return new TupleWriter(prefix).string(docId);
  }

  private byte[] key(String docId, boolean deleted, RevisionId leaf) {
    TupleWriter key = document(docId).bool(!deleted).integer(leaf.position());
    leaf.hash().writeTo(key);
    return key.toBytes();
  }

  private static int ofAttachments(EditBranch branch) {
    return branch.body().hasAttachments() ? WITH_ATTACHMENTS : 0;
  }

  private static void writeTail(TupleWriter value, EditBranch branch) {
    value.integer(branch.body().external()).integer(branch.body().stored());
    if (branch.body().hasAttachments()) {
      value.integer(branch.body().attachments());
    } else {
      value.nil();
    }
    branch.ancestors().writeTo(value);
  }

  /**
   * Decodes a row.
   *
   * @param branchOffset length of the key up to and including the document's id
   */
  public static EditBranch decode(KeyValue row, int branchOffset) {
    TupleReader key = new TupleReader(row.getKey(), branchOffset);
    boolean deleted = !key.bool();
    RevisionId leaf = new RevisionId(key.integer(), key.only(RevisionHash::readFrom));
    return decodeValue(leaf, deleted, row.getValue());
  }

  private static EditBranch decodeValue(RevisionId leaf, boolean deleted, byte[] bytes) {
    TupleReader value = new TupleReader(bytes, 0);
    int stored = FORMAT.upTo(value);
    boolean isPlain = stored < PLAIN + WITH_ATTACHMENTS;
    Winner winner = readWinner(value, isPlain ? stored : stored - WITH_ATTACHMENTS);
    BodySize body = readBody(value, isPlain);
    Ancestors ancestors = Ancestors.readFrom(bytes, value.position());
    return new EditBranch(leaf, deleted, ancestors, body, winner);
  }

  private static BodySize readBody(TupleReader value, boolean isPlain) {
    long external = value.integer();
    long stored = value.integer();
    if (isPlain) {
      value.nil();
      return new BodySize(external, stored);
    }
    return new BodySize(external, stored, value.smallInteger());
  }

  private static Optional<Winner> winnerOf(byte[] bytes) {
    TupleReader value = new TupleReader(bytes, 0);
    int stored = FORMAT.upTo(value);
    return Optional.ofNullable(
        readWinner(value, stored < PLAIN + WITH_ATTACHMENTS ? stored : stored - WITH_ATTACHMENTS));
  }

  /** Returns null for a losing branch. */
  private static Winner readWinner(TupleReader value, int format) {
    if (format == PLAIN && value.isNil()) {
      value.nil();
      return null;
    }
    Sequence sequence = Sequence.readFrom(value);
    int branchCount = value.smallInteger();
    if (format == WITH_OTHERS) {
      OtherLeaves others = OtherLeaves.readFrom(value.bytes(), branchCount - 1);
      return new Winner(sequence, branchCount, Optional.of(others));
    }
    return new Winner(
        sequence, branchCount, branchCount == 1 ? Optional.of(OtherLeaves.NONE) : Optional.empty());
  }
}
