package lectus.document.write;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import lectus.derived.DerivedRow;
import lectus.derived.IndexDefinition;
import lectus.document.BodyRows;
import lectus.document.DocumentId;
import lectus.json.ExplodedBody;
import lectus.revision.BranchUpdate;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;

/**
 * Everything that one transaction writes for one replicating document.
 *
 * @param bodies what the new leaves contain
 * @param design what changes if it is a design document
 * @param derived the rows of indexes and stored feeds that change
 * @param purged the leaves that are removed without a successor
 */
public record DocumentUpdate(
    String id,
    BranchUpdate branches,
    Map<RevisionId, BodyRows> bodies,
    Optional<DesignChange> design,
    List<DerivedRow> derived,
    List<RevisionId> purged)
    implements PlannedUpdate {

  public DocumentUpdate(String id, BranchUpdate branches, Map<RevisionId, BodyRows> bodies) {
    this(id, branches, bodies, Optional.empty(), List.of(), List.of());
  }

  /** Returns the removal of leaves. */
  static DocumentUpdate purging(String id, BranchUpdate branches, List<RevisionId> leaves) {
    return new DocumentUpdate(id, branches, Map.of(), Optional.empty(), List.of(), leaves);
  }

  /**
   * Returns a document as it is elsewhere, to be written where nothing is left of it.
   *
   * @param branches all, the winner with its sequence first
   */
  public static DocumentUpdate arriving(
      String id, List<EditBranch> branches, Map<RevisionId, BodyRows> bodies) {
    EditBranch winner = branches.get(0);
    BranchUpdate update =
        new BranchUpdate(Optional.empty(), Optional.of(winner), List.of(), branches);
    Optional<ValidationMember> validation =
        DocumentId.isDesign(id) && !winner.deleted()
            ? ValidationMember.in(bodies.get(winner.leaf()).body())
            : Optional.empty();
    return new DocumentUpdate(id, update, bodies)
        .with(new DesignChange(false, validation, Optional.empty()));
  }

  /**
   * Returns the removal of all that there is of a document, of which nothing tells afterwards.
   *
   * @param branches all, the winner first
   */
  public static DocumentUpdate leaving(String id, List<EditBranch> branches) {
    BranchUpdate update =
        new BranchUpdate(Optional.of(branches.get(0)), Optional.empty(), branches, List.of());
    return new DocumentUpdate(id, update, Map.of())
        .with(new DesignChange(DocumentId.isDesign(id), Optional.empty(), Optional.empty()));
  }

  /** Returns the same but for the branches that lose, which other transactions write or clear. */
  public DocumentUpdate ofWinner() {
    BranchUpdate its =
        new BranchUpdate(
            branches.formerWinner(),
            branches.winner(),
            branches.cleared().stream().limit(1).toList(),
            branches.written().stream().limit(1).toList());
    return new DocumentUpdate(id, its, bodies, design, derived, purged);
  }

  /** Returns the bodies of the new leaves, without attachments. */
  Map<RevisionId, ExplodedBody> members() {
    Map<RevisionId, ExplodedBody> members = new HashMap<>();
    bodies.forEach((leaf, rows) -> members.put(leaf, rows.body()));
    return members;
  }

  DocumentUpdate with(DesignChange change) {
    return new DocumentUpdate(id, branches, bodies, Optional.of(change), derived, purged);
  }

  DocumentUpdate deriving(List<DerivedRow> rows) {
    return new DocumentUpdate(id, branches, bodies, design, rows, purged);
  }

  /**
   * What an edit of a design document changes beside the document.
   *
   * @param wasValidator whether it is listed among the validators
   * @param validation how it validates writes from now on; empty if it does not
   * @param indexes which indexes it now describes; empty if they are unchanged
   */
  record DesignChange(
      boolean wasValidator,
      Optional<ValidationMember> validation,
      Optional<List<IndexDefinition>> indexes) {
    /**
     * Whether the row among the validators changes. Each change of a validator gives it another.
     */
    boolean changesValidator() {
      return wasValidator || validation.isPresent();
    }
  }
}
