package lectus.derived.rows;

import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import lectus.database.DatabaseHandle;
import lectus.derived.DerivedRow;
import lectus.derived.EditWork;
import lectus.document.DocumentId;
import lectus.document.read.SelectedDocuments;
import lectus.json.ExplodedBody;
import lectus.json.LeafView;
import lectus.revision.BranchUpdate;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;

/**
 * Keeps the indexes of a database up to date, in the transaction that writes its documents. What an
 * index has of a document until then follows from the former winner's leaves, which are read: only
 * databases with indexes pay for it, and nothing but the entries is stored.
 */
public final class IndexMaintenance {
  private final SelectedDocuments documents;
  private final IndexRows rows;
  private final boolean isFilling;

  public IndexMaintenance(ReadTransaction tx, DatabaseHandle db) {
    this.documents = new SelectedDocuments(tx.snapshot(), db, db.indexes().reads());
    this.rows = new IndexRows(tx, db, db.indexes().all());
    this.isFilling = !db.indexes().areReadable();
  }

  /** A document before or after an edit, with the leaves that indexes need. */
  private record Version(
      RevisionId winner, Optional<ExplodedBody> body, SelectedDocuments.Started reading) {}

  /** An edit whose reads have begun. */
  public record Started(String id, Optional<Version> before, Optional<Version> after) {}

  /**
   * A document whose winner stays, as when it gets a conflict, is entered all the same while an
   * index is built: its changes entry moves behind what the index's job looks at.
   *
   * @param bodies of the new leaves
   * @return empty if no index changes
   */
  public Optional<Started> begin(
      String id, BranchUpdate branches, Map<RevisionId, ExplodedBody> bodies) {
    Optional<EditBranch> before = branches.formerWinner().filter(it -> !it.deleted());
    Optional<EditBranch> after = branches.winner().filter(it -> !it.deleted());
    boolean isUnchanged = before.map(EditBranch::leaf).equals(after.map(EditBranch::leaf));
    return DocumentId.isDesign(id) || (isUnchanged && !isFilling)
        ? Optional.empty()
        : Optional.of(
            new Started(
                id,
                before.map(it -> version(id, it.leaf(), Optional.empty())),
                after.map(
                    it -> version(id, it.leaf(), Optional.ofNullable(bodies.get(it.leaf()))))));
  }

  private Version version(String id, RevisionId winner, Optional<ExplodedBody> body) {
    return new Version(winner, body, body.isPresent() ? null : documents.start(id, false, winner));
  }

  /** Returns the rows of the new winner. Call it once, before {@link #changes}. */
  public List<DerivedRow> next(Started edit, EditWork work) {
    return rows(edit.id, edit.after, work);
  }

  /**
   * Returns the rows to change. Call it once. What an index has of the former winner may have been
   * decided with other neighbours, which left its filter more work or less. So where that matters
   * both rows are cleared that it may have.
   *
   * @param next from {@link #next}
   */
  public List<DerivedRow> changes(Started edit, List<DerivedRow> next, EditWork work) {
    Set<byte[]> written = new TreeSet<>(Arrays::compareUnsigned);
    next.forEach(row -> written.add(row.key()));
    List<DerivedRow> changes = new ArrayList<>(2 * next.size());
    for (DerivedRow former : rows(edit.id, edit.before, work)) {
      if (!written.contains(former.key())) {
        changes.add(DerivedRow.cleared(former.key()));
      }
    }
    changes.addAll(next);
    return changes;
  }

  private List<DerivedRow> rows(String id, Optional<Version> version, EditWork work) {
    return version.map(it -> rows.of(leaves(id, it), id, it.winner, work)).orElse(List.of());
  }

  public long bytesRead() {
    return documents.bytesArrived();
  }

  private LeafView leaves(String id, Version version) {
    return version
        .body()
        .map(body -> documents.leaves(id, version.winner(), body))
        .orElseGet(() -> documents.leaves(version.reading()));
  }
}
