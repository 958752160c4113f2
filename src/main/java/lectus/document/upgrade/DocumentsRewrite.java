package lectus.document.upgrade;

import com.apple.foundationdb.Transaction;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.StatisticsDelta;
import lectus.document.body.DocumentsSubspace;
import lectus.document.write.DocumentUpdate;
import lectus.document.write.UpdateWriter;
import lectus.revision.BranchUpdate;
import lectus.revision.EditBranch;
import lectus.revision.RevisionsSubspace;
import lectus.revision.StoredBranch;
import lectus.store.Awaiting;
import lectus.tuple.MalformedTupleException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Rewrites documents of the first format in one transaction. Rows and bodies move to keys whose
 * hashes are byte strings. If another branch then wins, or two branches turn out to be one, the
 * document is written like an edit. Otherwise the rewrite is invisible.
 *
 * <p>If a document is too large for one transaction, some of its losing branches are moved first.
 * It keeps a row of the first format until all of it is done.
 */
final class DocumentsRewrite {
  private static final Logger LOG = LoggerFactory.getLogger(DocumentsRewrite.class);

  /** Well below a transaction's limit, because a body may weigh more than estimated. */
  private static final long BUDGET_BYTES = 2_000_000;

  private final Transaction tx;
  private final DatabaseHandle db;
  private final Catalogue catalogue;
  private final RevisionsSubspace revisions;
  private final DocumentsSubspace documents;
  private final UpdateWriter writer;
  private final StatisticsDelta dropped;
  private long weight;
  private int unreadable;

  /**
   * @param done how many of the documents are done, from the first; 0 if the transaction only moved
   *     branches of the first document
   * @param unreadable how many of those cannot be read and were left unchanged
   */
  record Result(int done, int unreadable) {}

  DocumentsRewrite(Transaction tx, DatabaseHandle db, Catalogue catalogue) {
    this.tx = tx;
    this.db = db;
    this.catalogue = catalogue;
    this.revisions = new RevisionsSubspace(db);
    this.documents = new DocumentsSubspace(db);
    this.writer = new UpdateWriter(tx, db);
    this.dropped = new StatisticsDelta(db.configuration().partitioned());
  }

  Result run(List<String> ids) {
    List<CompletableFuture<List<StoredBranch>>> reading = new ArrayList<>(ids.size());
    ids.forEach(id -> reading.add(revisions.stored(tx, id)));
    int done = 0;
    while (done < ids.size() && rewrite(ids.get(done), reading.get(done))) {
      done++;
    }
    finish();
    return new Result(done, unreadable);
  }

  private void finish() {
    writer.finish();
    dropped.applyTo(tx, db);
    if (writer.written() > 0) {
      catalogue.noteUpdate(tx, db);
    }
  }

  /** Whether the document is done. An unreadable one counts as done, so that the others proceed. */
  private boolean rewrite(String id, CompletableFuture<List<StoredBranch>> reading) {
    try {
      return rewrite(id, new FormerDocument(Awaiting.await(reading)));
    } catch (MalformedTupleException | IllegalArgumentException damaged) {
      LOG.warn(
          "The document {} of the database {} was not upgraded: {}",
          id,
          db.name().text(),
          damaged.getMessage());
      unreadable++;
      return true;
    }
  }

  private boolean rewrite(String id, FormerDocument document) {
    long itsWeight = document.texts().stream().mapToLong(it -> weightOf(id, it)).sum();
    boolean fits = weight + itsWeight <= BUDGET_BYTES;
    if (!fits && weight > 0) {
      return false;
    }
    if (!fits && moveAhead(id, document.movable()) > 0) {
      return false;
    }
    weight += itsWeight;
    settle(id, document);
    return true;
  }

  /**
   * Estimates the weight: the body is read and rewritten under other keys, each with an overhead.
   */
  private long weightOf(String id, StoredBranch former) {
    EditBranch branch = former.branch();
    int bodyReadAndWritten = 2;
    int keysAndConflictRanges = 6;
    return bodyReadAndWritten * branch.body().stored()
        + (long) keysAndConflictRanges * revisions.keySizeBound(id, branch.leaf())
        + revisions.valueSizeBound(branch);
  }

  /** Moves as many branches as fit, and at least one if there is one. Returns their number. */
  private int moveAhead(String id, List<StoredBranch> movable) {
    int moved = 0;
    while (moved < movable.size()
        && (moved == 0 || weight + weightOf(id, movable.get(moved)) <= BUDGET_BYTES)) {
      move(id, movable.get(moved));
      weight += weightOf(id, movable.get(moved++));
    }
    return moved;
  }

  private void settle(String id, FormerDocument document) {
    List<EditBranch> cleared = new ArrayList<>();
    for (StoredBranch branch : document.stored()) {
      if (document.keeps(branch)) {
        if (branch.hasTextKey()) {
          move(id, branch);
        }
      } else if (branch.hasTextKey()) {
        drop(id, branch);
      } else {
        cleared.add(branch.branch());
      }
    }
    Optional<BranchUpdate> change = document.change(cleared);
    change.ifPresent(update -> writer.write(new DocumentUpdate(id, update, Map.of())));
  }

  private void move(String id, StoredBranch former) {
    EditBranch branch = former.branch();
    revisions.move(tx, id, former);
    if (branch.body().isStored()) {
      documents.moveFromText(tx, id, branch.deleted(), branch.leaf());
    }
  }

  private void drop(String id, StoredBranch former) {
    EditBranch branch = former.branch();
    tx.clear(former.row().getKey());
    if (branch.body().isStored()) {
      documents.clearText(tx, id, branch.deleted(), branch.leaf());
      dropped.add(id, 0, 0, -branch.body().external(), -branch.body().stored());
    }
  }
}
