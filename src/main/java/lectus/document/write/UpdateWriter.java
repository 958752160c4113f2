package lectus.document.write;

import com.apple.foundationdb.Transaction;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import lectus.attachment.AttachmentList;
import lectus.attachment.ContentId;
import lectus.attachment.ReferencesSubspace;
import lectus.attachment.UnusedSubspace;
import lectus.changes.log.ChangesSubspace;
import lectus.changes.log.GoneSubspace;
import lectus.changes.log.PurgesSubspace;
import lectus.database.DatabaseHandle;
import lectus.database.Sequence;
import lectus.database.ShardId;
import lectus.database.ShardTopology;
import lectus.database.ShardTopology.Generation;
import lectus.database.StatisticsSubspace.StatisticsDelta;
import lectus.database.Validator.Declaration;
import lectus.database.ValidatorsSubspace;
import lectus.derived.DerivedRow;
import lectus.document.BodyRows;
import lectus.document.DocumentsSubspace;
import lectus.document.read.AllDocsSubspace;
import lectus.document.read.LocalDocsSubspace;
import lectus.document.write.DocumentWriter.TransactionBudget;
import lectus.document.write.PlannedUpdate.LocalUpdate;
import lectus.revision.BranchUpdate;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;
import lectus.revision.RevisionsSubspace;
import lectus.store.Awaiting;

/**
 * Writes planned updates into one transaction: edit branches, bodies, the changes index, the
 * all-docs index, and the counters. For local documents it writes only the documents themselves.
 */
public final class UpdateWriter {
  private static final int CONFLICTING_MUTATION_BYTES =
      TransactionBudget.MUTATION_BYTES + TransactionBudget.CONFLICT_RANGE_BYTES;

  /**
   * Bytes of the two indexes' mutations and of the read conflict ranges, besides their keys, which
   * are no longer than a branch's.
   */
  private static final int INDEX_BYTES = 400;

  /** The same for a design document that starts or stops validating writes. */
  private static final int VALIDATION_BYTES = 600;

  /** How often such a key occurs in them. */
  private static final int INDEX_KEYS = 6;

  /** A purge's key, what its value has beside id and leaves, and the range of those forgotten. */
  private static final int PURGE_BYTES = 300;

  private static final int BYTES_PER_CHARACTER = 3;

  /** Keys of a reference in the transaction: the mutation and its conflict range. */
  private static final int REFERENCE_KEYS = 3;

  /** A reference and a row of the unused contents, without their keys' variable parts. */
  private static final int REFERENCE_BYTES = 2 * CONFLICTING_MUTATION_BYTES + 64;

  /**
   * Number of partition counters that a document changes; their keys are shorter than a branch's.
   */
  private static final long PARTITION_COUNTERS = 4;

  private final Transaction tx;
  private final DatabaseHandle db;
  final RevisionsSubspace revisions;
  final DocumentsSubspace documents;
  final AllDocsSubspace allDocs;
  private final ChangesSubspace changes;
  private final StatisticsDelta statistics;
  private final Set<ShardId> shards = new HashSet<>();
  private int written;
  private boolean changesHandle;

  public UpdateWriter(Transaction tx, DatabaseHandle db) {
    this.tx = tx;
    this.db = db;
    this.revisions = new RevisionsSubspace(db);
    this.documents = new DocumentsSubspace(db);
    this.allDocs = new AllDocsSubspace(db);
    this.changes = new ChangesSubspace(db);
    this.statistics = new StatisticsDelta(db.configuration().partitioned());
  }

  /**
   * Returns the number of documents written so far, without local ones. They are numbered from 1
   * within the transaction; 0 is the number of a generation of shards that may begin in it.
   */
  public int written() {
    return written;
  }

  /** Returns the changes shards that have new entries. */
  Set<ShardId> shards() {
    return shards;
  }

  /** Whether the writes change something that the database's handle contains. */
  boolean changesHandle() {
    return changesHandle;
  }

  /** Returns an upper bound of what {@link #write} adds to the transaction, in bytes. */
  long weight(PlannedUpdate update) {
    return update instanceof LocalUpdate local ? weight(local) : weight((DocumentUpdate) update);
  }

  private long weight(LocalUpdate update) {
    long keyBytes = new LocalDocsSubspace(db).body(update.edit().id()).length + 1L;
    BodyRows rows = update.rows();
    // One of them, and two ranges, are for the mark that images follow.
    long mutations = rows.count() + 3L;
    return rows.bytes()
        + mutations * TransactionBudget.MUTATION_BYTES
        + LocalDocsSubspace.MAX_VALUE_BYTES
        + GoneSubspace.MAX_MARK_BYTES
        + 9 * keyBytes
        + 3L * TransactionBudget.CONFLICT_RANGE_BYTES;
  }

  private long weight(DocumentUpdate update) {
    BranchUpdate branches = update.branches();
    int keyBytes = revisions.keySizeBound(update.id(), someLeaf(branches));
    long weight = (long) INDEX_KEYS * keyBytes + INDEX_BYTES;
    if (db.configuration().partitioned()) {
      weight += PARTITION_COUNTERS * (keyBytes + CONFLICTING_MUTATION_BYTES);
    }
    if (movesDeletion(branches)) {
      weight += 2L * keyBytes + TransactionBudget.MUTATION_BYTES;
    }
    if (!update.purged().isEmpty()) {
      weight += PURGE_BYTES + (long) BYTES_PER_CHARACTER * update.id().length();
      weight += PurgesSubspace.sizeOf(update.purged());
    }
    if (isGone(update)) {
      weight += 2L * keyBytes + INDEX_BYTES;
    }
    for (DerivedRow row : update.derived()) {
      weight += weight(row);
    }
    if (update.design().isPresent()) {
      weight += 2L * keyBytes + VALIDATION_BYTES;
      weight += update.design().get().validation().isPresent() ? Declaration.MAX_BYTES : 0;
    }
    for (EditBranch branch : branches.written()) {
      // The key occurs once in the mutation and twice in its conflict range.
      weight += 3L * revisions.keySizeBound(update.id(), branch.leaf());
      weight += revisions.valueSizeBound(branch) + CONFLICTING_MUTATION_BYTES;
      weight += bodyWeight(update, branch) + referencesWeight(update.id(), branch);
    }
    for (EditBranch branch : branches.cleared()) {
      // Two cleared ranges and a conflict range, each with two bounds.
      weight += 6L * revisions.keySizeBound(update.id(), branch.leaf());
      weight += TransactionBudget.MUTATION_BYTES + CONFLICTING_MUTATION_BYTES;
      weight += referencesWeight(update.id(), branch);
    }
    return weight;
  }

  /** The key occurs in the mutation and in what the transaction may conflict with. */
  static long weight(DerivedRow row) {
    return row.bytes() + row.key().length + TransactionBudget.MUTATION_BYTES;
  }

  private static RevisionId someLeaf(BranchUpdate branches) {
    return branches.winner().or(branches::formerWinner).orElseThrow().leaf();
  }

  private long bodyWeight(DocumentUpdate update, EditBranch branch) {
    BodyRows rows = update.bodies().get(branch.leaf());
    return rows == null
        ? 0
        : branch.body().stored() + (long) rows.count() * TransactionBudget.MUTATION_BYTES;
  }

  /** Returns an upper bound of what the references of a written or cleared leaf add, in bytes. */
  private long referencesWeight(String docId, EditBranch branch) {
    if (!branch.body().hasAttachments()) {
      return 0;
    }
    long keyBytes =
        new ReferencesSubspace(db.prefix()).overhead()
            + DocumentsSubspace.keyOverhead(docId, branch.leaf().hash().bytes().length);
    // The contents that a leaf loses have rows of their own, whose keys are shorter.
    return branch.body().attachments() * (2 * REFERENCE_KEYS * keyBytes + REFERENCE_BYTES);
  }

  /** Writes everything but the counters, which {@link #finish} writes. */
  public void write(PlannedUpdate update) {
    write(List.of(update));
  }

  /**
   * Writes documents as they are elsewhere, behind the removal of what there was of some.
   *
   * @param leaving each of another document
   * @param arriving each of another document, with its sequence
   */
  public void move(List<DocumentUpdate> leaving, List<DocumentUpdate> arriving) {
    write(leaving);
    write(arriving);
  }

  /**
   * Writes subspace by subspace. Neighbours of one subspace in a row cost a store that keeps its
   * rows in order far less than going from one subspace to the next with every document.
   *
   * @param updates each of another document
   */
  void write(List<? extends PlannedUpdate> updates) {
    int before = written;
    List<DocumentUpdate> documentUpdates = new ArrayList<>(updates.size());
    for (PlannedUpdate update : updates) {
      if (update instanceof LocalUpdate local) {
        new LocalDocsSubspace(db).write(tx, local.edit(), local.rows());
      } else {
        documentUpdates.add((DocumentUpdate) update);
      }
    }
    written += documentUpdates.size();
    for (int i = 0; i < documentUpdates.size(); i++) {
      writeBranches(documentUpdates.get(i), before + 1 + i);
    }
    if (documentUpdates.stream().anyMatch(UpdateWriter::hasAttachments)) {
      new ReferenceWriter(tx, db, documents, statistics).write(documentUpdates);
    }
    documentUpdates.forEach(this::writeBodies);
    for (int i = 0; i < documentUpdates.size(); i++) {
      DocumentUpdate update = documentUpdates.get(i);
      moveChange(update.id(), update.branches(), before + 1 + i);
    }
    rememberPurges(documentUpdates, before + 1);
    noteGone(documentUpdates, before + 1);
    documentUpdates.forEach(update -> index(update.id(), update.branches()));
    writeDerived(documentUpdates, before + 1);
    for (int i = 0; i < documentUpdates.size(); i++) {
      DocumentUpdate update = documentUpdates.get(i);
      count(update.id(), update.branches());
      if (update.design().isPresent() && update.design().get().changesValidator()) {
        listValidator(update, update.design().get().validation(), before + 1 + i);
      }
    }
  }

  private void writeBranches(DocumentUpdate update, int number) {
    for (EditBranch gone : update.branches().cleared()) {
      revisions.clear(tx, update.id(), gone);
    }
    for (EditBranch branch : update.branches().written()) {
      revisions.put(tx, update.id(), branch, number);
    }
  }

  private void writeBodies(DocumentUpdate update) {
    for (EditBranch gone : update.branches().cleared()) {
      clearBody(update.id(), gone);
    }
    for (EditBranch branch : update.branches().written()) {
      putBody(update, branch);
    }
  }

  /** Index by index and feed by feed, because each has its rows apart from the others. */
  private void writeDerived(List<DocumentUpdate> updates, int first) {
    record Numbered(DerivedRow row, int number) {}
    List<Numbered> rows = new ArrayList<>();
    for (int i = 0; i < updates.size(); i++) {
      for (DerivedRow row : updates.get(i).derived()) {
        rows.add(new Numbered(row, first + i));
      }
    }
    rows.sort((a, b) -> Arrays.compareUnsigned(a.row.key(), b.row.key()));
    rows.forEach(it -> it.row.write(tx, it.number));
  }

  private void listValidator(
      DocumentUpdate update, Optional<ValidationMember> validation, int number) {
    ValidatorsSubspace validators = new ValidatorsSubspace(db.prefix());
    if (validation.isPresent()) {
      EditBranch winner = update.branches().winner().orElseThrow();
      String revision = winner.leaf().toString();
      Optional<Declaration> declaration = validation.get().declaration();
      Sequence known = winner.winner().sequence();
      if (known == null) {
        validators.add(tx, db.incarnation(), update.id(), revision, declaration, number);
      } else {
        validators.addAt(tx, known, update.id(), revision, declaration);
      }
    } else {
      validators.remove(tx, update.id());
    }
    changesHandle = true;
  }

  /** Writes the sum of all updates' changes to the counters. */
  public void finish() {
    statistics.applyTo(tx, db);
  }

  private void clearBody(String id, EditBranch gone) {
    if (gone.body().isStored()) {
      documents.clear(tx, id, gone.deleted(), gone.leaf());
      statistics.add(id, 0, 0, -gone.body().external(), -gone.body().stored());
    }
  }

  private void putBody(DocumentUpdate update, EditBranch branch) {
    BodyRows rows = update.bodies().get(branch.leaf());
    if (rows != null && branch.body().isStored()) {
      documents.put(tx, update.id(), branch.deleted(), branch.leaf(), rows);
      statistics.add(update.id(), 0, 0, branch.body().external(), branch.body().stored());
    }
  }

  /** RFC 003: clears the document's earlier entry and adds the new one, without reading either. */
  private void moveChange(String id, BranchUpdate branches, int number) {
    ShardTopology topology = db.topology();
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
    branches.winner().ifPresent(winner -> enter(id, winner, number));
  }

  /**
   * Remembers what is purged, and forgets earlier purges beyond the database's limit.
   *
   * @param first number of the first update in the transaction
   */
  private void rememberPurges(List<DocumentUpdate> updates, int first) {
    List<Integer> purging = new ArrayList<>(0);
    for (int i = 0; i < updates.size(); i++) {
      if (!updates.get(i).purged().isEmpty()) {
        purging.add(i);
      }
    }
    if (purging.isEmpty()) {
      return;
    }
    PurgesSubspace purges = new PurgesSubspace(db);
    int most =
        (int) Math.min(db.configuration().purgedInfosLimit(), (long) PurgesSubspace.MAX_ROWS);
    int kept = Math.min(most, purging.size());
    purges.keep(tx, most - kept);
    for (int i : purging.subList(purging.size() - kept, purging.size())) {
      purges.insert(tx, first + i, updates.get(i).id(), updates.get(i).purged());
    }
    changesHandle |= !db.mayHavePurges();
  }

  /** What is purged wholly leaves no entry behind. */
  private void noteGone(List<DocumentUpdate> updates, int first) {
    if (updates.stream().noneMatch(UpdateWriter::isGone)) {
      return;
    }
    GoneSubspace gone = new GoneSubspace(db);
    gone.bound(tx);
    boolean isFollowed = gone.isFollowed(tx);
    for (int i = 0; isFollowed && i < updates.size(); i++) {
      if (isGone(updates.get(i))) {
        gone.insert(tx, first + i, updates.get(i).id());
      }
    }
  }

  private static boolean hasAttachments(DocumentUpdate update) {
    return update.branches().written().stream().anyMatch(it -> it.body().hasAttachments())
        || update.branches().cleared().stream().anyMatch(it -> it.body().hasAttachments());
  }

  private static boolean isGone(DocumentUpdate update) {
    return update.branches().winner().isEmpty() && update.branches().formerWinner().isPresent();
  }

  private void enter(String id, EditBranch winner, int number) {
    ShardTopology topology = db.topology();
    Sequence known = winner.winner().sequence();
    Generation generation = known == null ? topology.current() : topology.at(known);
    ShardId shard = topology.shardIn(generation, id);
    changes.insert(tx, shard, number, id, winner);
    statistics.addEntries(generation, shard, id, 1);
    shards.add(shard);
  }

  private void index(String id, BranchUpdate branches) {
    if (isLive(branches.winner())) {
      EditBranch winner = branches.winner().orElseThrow();
      allDocs.put(tx, id, winner.leaf(), winner.winner().branchCount());
    } else if (isLive(branches.formerWinner())) {
      allDocs.clear(tx, id);
    }
    if (movesDeletion(branches)) {
      allDocs.setDeleted(tx, id, isDeleted(branches.winner()));
    }
  }

  /** Whether the document is deleted now, or is no longer. */
  private static boolean movesDeletion(BranchUpdate branches) {
    return isDeleted(branches.winner()) != isDeleted(branches.formerWinner());
  }

  private void count(String id, BranchUpdate branches) {
    Optional<EditBranch> former = branches.formerWinner();
    Optional<EditBranch> winner = branches.winner();
    int live = (isLive(winner) ? 1 : 0) - (isLive(former) ? 1 : 0);
    int deleted = (isDeleted(winner) ? 1 : 0) - (isDeleted(former) ? 1 : 0);
    statistics.add(id, live, deleted, 0, 0);
  }

  private static boolean isDeleted(Optional<EditBranch> branch) {
    return branch.isPresent() && branch.get().deleted();
  }

  private static boolean isLive(Optional<EditBranch> branch) {
    return branch.isPresent() && !branch.get().deleted();
  }

  /**
   * Writes which leaves show which contents, and counts these among the stored bytes. What a
   * replaced leaf showed is read from its metadata, if its branch says that it showed anything.
   */
  private static final class ReferenceWriter {
    private final Transaction tx;
    private final DocumentsSubspace documents;
    private final ReferencesSubspace references;
    private final UnusedSubspace unused;
    private final StatisticsDelta statistics;

    ReferenceWriter(
        Transaction tx,
        DatabaseHandle db,
        DocumentsSubspace documents,
        StatisticsDelta statistics) {
      this.statistics = statistics;
      this.tx = tx;
      this.documents = documents;
      this.references = new ReferencesSubspace(db.prefix());
      this.unused = new UnusedSubspace(db.prefix());
    }

    /** A leaf that is replaced, and its attachments, which are being read. */
    private record Lost(
        DocumentUpdate update, EditBranch branch, CompletableFuture<AttachmentList> attachments) {}

    /**
     * Writes the references of new leaves and clears those of replaced ones, before their bodies.
     */
    void write(List<DocumentUpdate> updates) {
      List<Lost> lost = new ArrayList<>();
      updates.forEach(update -> readLost(update, lost));
      lost.forEach(this::clear);
      updates.forEach(this::put);
    }

    private void readLost(DocumentUpdate update, List<Lost> lost) {
      for (EditBranch branch : update.branches().cleared()) {
        if (branch.body().hasAttachments()) {
          lost.add(
              new Lost(
                  update,
                  branch,
                  documents.attachments(tx, update.id(), branch.deleted(), branch.leaf())));
        }
      }
    }

    private void clear(Lost lost) {
      EditBranch branch = lost.branch();
      byte[] leaf = DocumentsSubspace.leaf(branch.deleted(), branch.leaf());
      Set<ContentId> kept = shown(lost.update());
      AttachmentList attachments = Awaiting.await(lost.attachments());
      statistics.add(lost.update().id(), 0, 0, 0, -attachments.storedLength());
      for (ContentId content : attachments.contents()) {
        references.clear(tx, content, lost.update().id(), leaf);
        if (!kept.contains(content)) {
          unused.put(tx, content, Awaiting.await(tx.getReadVersion()));
        }
      }
    }

    private static Set<ContentId> shown(DocumentUpdate update) {
      Set<ContentId> shown = new HashSet<>();
      for (EditBranch branch : update.branches().written()) {
        BodyRows content = update.bodies().get(branch.leaf());
        if (content != null) {
          shown.addAll(content.attachments().contents());
        }
      }
      return shown;
    }

    private void put(DocumentUpdate update) {
      for (EditBranch branch : update.branches().written()) {
        BodyRows content = update.bodies().get(branch.leaf());
        if (content != null && !content.attachments().all().isEmpty()) {
          byte[] leaf = DocumentsSubspace.leaf(branch.deleted(), branch.leaf());
          statistics.add(update.id(), 0, 0, 0, content.attachments().storedLength());
          for (ContentId id : content.attachments().contents()) {
            references.put(tx, id, update.id(), leaf);
          }
        }
      }
    }
  }
}
