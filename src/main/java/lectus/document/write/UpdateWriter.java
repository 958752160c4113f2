package lectus.document.write;

import com.apple.foundationdb.Transaction;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import lectus.changes.ChangeEntry;
import lectus.changes.ChangesSubspace;
import lectus.database.DatabaseHandle;
import lectus.database.Generation;
import lectus.database.Sequence;
import lectus.database.ShardId;
import lectus.database.ShardTopology;
import lectus.database.StatisticsDelta;
import lectus.database.ValidatorsSubspace;
import lectus.document.alldocs.AllDocsRow;
import lectus.document.alldocs.AllDocsSubspace;
import lectus.document.body.DocumentsSubspace;
import lectus.document.edit.LocalEdit;
import lectus.document.local.LocalDocsSubspace;
import lectus.json.ExplodedBody;
import lectus.revision.BranchUpdate;
import lectus.revision.EditBranch;
import lectus.revision.RevisionsSubspace;

/**
 * Writes planned updates into one transaction: edit branches, bodies, the changes index, the
 * all-docs index, and the counters; of local documents nothing but themselves.
 */
public final class UpdateWriter {
  private static final int CONFLICTING_MUTATION_BYTES =
      TransactionBudget.MUTATION_BYTES + TransactionBudget.CONFLICT_RANGE_BYTES;

  /**
   * What the mutations of the two indexes, and the read conflict ranges, have beside keys that are
   * no longer than a branch's.
   */
  private static final int INDEX_BYTES = 400;

  /** The same for a design document that begins or ceases to ask for validation. */
  private static final int VALIDATION_BYTES = 600;

  /** How often the bytes of such a key occur in them. */
  private static final int INDEX_KEYS = 6;

  /** Counters of its partition that a document changes, with keys shorter than a branch's. */
  private static final long PARTITION_COUNTERS = 4;

  private final Transaction tx;
  private final DatabaseHandle database;
  private final RevisionsSubspace revisions;
  private final DocumentsSubspace documents;
  private final AllDocsSubspace allDocs;
  private final ChangesSubspace changes;
  private final LocalDocsSubspace locals;
  private final StatisticsDelta statistics;
  private final ValidatorsSubspace validators;
  private final Set<ShardId> shards = new HashSet<>();
  private int written;
  private boolean changesValidation;

  public UpdateWriter(Transaction tx, DatabaseHandle database) {
    this.tx = tx;
    this.database = database;
    this.revisions = new RevisionsSubspace(database);
    this.documents = new DocumentsSubspace(database);
    this.allDocs = new AllDocsSubspace(database);
    this.changes = new ChangesSubspace(database);
    this.locals = new LocalDocsSubspace(database);
    this.validators = new ValidatorsSubspace(database.prefix());
    this.statistics = new StatisticsDelta(database.configuration().partitioned());
  }

  /**
   * Documents written so far, without local ones. They are numbered from 1 within the transaction:
   * 0 is the number of the generation of shards that may begin in it.
   */
  public int written() {
    return written;
  }

  /** The changes shards that have new entries. */
  Set<ShardId> shards() {
    return shards;
  }

  /** Whether something was written that the database's handle tells of. */
  boolean changesValidation() {
    return changesValidation;
  }

  /** An upper bound of what {@link #write} adds to the transaction, in bytes. */
  long weight(PlannedUpdate update) {
    return update instanceof LocalUpdate local
        ? weight(local.edit())
        : weight((DocumentUpdate) update);
  }

  private long weight(LocalEdit edit) {
    long keyBytes = locals.body(edit.id()).length + 1L;
    long mutations = edit.body().rows() + 2L;
    return edit.body().storedBytes()
        + mutations * (keyBytes + TransactionBudget.MUTATION_BYTES)
        + LocalDocsSubspace.MOST_VALUE_BYTES
        + 4 * keyBytes
        + TransactionBudget.CONFLICT_RANGE_BYTES;
  }

  private long weight(DocumentUpdate update) {
    BranchUpdate branches = update.branches();
    int keyBytes = revisions.keySizeBound(update.id(), branches.winner().leaf());
    long weight = (long) INDEX_KEYS * keyBytes + INDEX_BYTES;
    if (database.configuration().partitioned()) {
      weight += PARTITION_COUNTERS * (keyBytes + CONFLICTING_MUTATION_BYTES);
    }
    if (update.validation().isPresent()) {
      weight += 2L * keyBytes + VALIDATION_BYTES;
    }
    for (EditBranch branch : branches.written()) {
      // The key, and twice more in its conflict range.
      weight += 3L * revisions.keySizeBound(update.id(), branch.leaf());
      weight += revisions.valueSizeBound(branch) + CONFLICTING_MUTATION_BYTES;
      weight += bodyWeight(update, branch);
    }
    for (EditBranch branch : branches.cleared()) {
      // Two ranges and a conflict range, each with two bounds.
      weight += 6L * revisions.keySizeBound(update.id(), branch.leaf());
      weight += TransactionBudget.MUTATION_BYTES + CONFLICTING_MUTATION_BYTES;
    }
    return weight;
  }

  private long bodyWeight(DocumentUpdate update, EditBranch branch) {
    ExplodedBody body = update.bodies().get(branch.leaf());
    return body == null
        ? 0
        : branch.body().stored() + (body.rows() + 1L) * TransactionBudget.MUTATION_BYTES;
  }

  /** The counters are written by {@link #finish}. */
  public void write(PlannedUpdate update) {
    if (update instanceof LocalUpdate local) {
      locals.write(tx, local.edit());
    } else {
      write((DocumentUpdate) update);
    }
  }

  private void write(DocumentUpdate update) {
    int number = ++written;
    String id = update.id();
    BranchUpdate branches = update.branches();
    for (EditBranch gone : branches.cleared()) {
      clear(id, gone);
    }
    for (EditBranch branch : branches.written()) {
      revisions.put(tx, id, branch, number);
      putBody(update, branch);
    }
    moveChange(id, branches, number);
    index(id, branches);
    count(id, branches);
    update.validation().ifPresent(validates -> setValidation(id, validates));
  }

  private void setValidation(String id, boolean validates) {
    validators.set(tx, id, validates);
    changesValidation = true;
  }

  /** Writes what all updates together changed in the counters. */
  public void finish() {
    statistics.applyTo(tx, database);
  }

  private void clear(String id, EditBranch gone) {
    revisions.clear(tx, id, gone);
    if (gone.body().isStored()) {
      documents.clear(tx, id, gone.deleted(), gone.leaf());
      statistics.add(id, 0, 0, -gone.body().external(), -gone.body().stored());
    }
  }

  private void putBody(DocumentUpdate update, EditBranch branch) {
    ExplodedBody body = update.bodies().get(branch.leaf());
    if (body != null && branch.body().isStored()) {
      documents.put(tx, update.id(), branch.deleted(), branch.leaf(), body);
      statistics.add(update.id(), 0, 0, branch.body().external(), branch.body().stored());
    }
  }

  /** RFC 003: the document's earlier entry goes, its new one comes; neither is read. */
  private void moveChange(String id, BranchUpdate branches, int number) {
    ShardTopology topology = database.topology();
    branches
        .formerWinner()
        .ifPresent(
            former -> {
              Sequence earlier = former.winner().sequence();
              Generation generation = topology.at(earlier);
              ShardId shard = topology.shardIn(generation, id);
              changes.clear(tx, shard, earlier);
              statistics.addEntries(generation, shard, id, -1);
            });
    EditBranch winner = branches.winner();
    ShardId shard = topology.shardFor(id);
    changes.insert(
        tx,
        shard,
        number,
        new ChangeEntry(null, id, winner.leaf(), winner.deleted(), winner.winner().branchCount()));
    statistics.addEntries(topology.current(), shard, id, 1);
    shards.add(shard);
  }

  private void index(String id, BranchUpdate branches) {
    EditBranch winner = branches.winner();
    if (!winner.deleted()) {
      allDocs.put(tx, new AllDocsRow(id, winner.leaf(), winner.winner().branchCount()));
    } else if (isLive(branches.formerWinner())) {
      allDocs.clear(tx, id);
    }
  }

  private void count(String id, BranchUpdate branches) {
    Optional<EditBranch> former = branches.formerWinner();
    boolean isLive = !branches.winner().deleted();
    int live = (isLive ? 1 : 0) - (isLive(former) ? 1 : 0);
    int deleted = (isLive ? 0 : 1) - (former.isPresent() && !isLive(former) ? 1 : 0);
    statistics.add(id, live, deleted, 0, 0);
  }

  private static boolean isLive(Optional<EditBranch> branch) {
    return branch.isPresent() && !branch.get().deleted();
  }
}
