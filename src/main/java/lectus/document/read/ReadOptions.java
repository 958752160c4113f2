package lectus.document.read;

import java.util.List;
import java.util.Optional;
import lectus.json.FieldPath;
import lectus.revision.RevisionId;

/**
 * What to read of a document, and what to add to it.
 *
 * @param revision a certain leaf instead of the winner; {@code conflicts}, {@code
 *     deletedConflicts}, {@code revsInfo} and {@code localSeq} are then ignored, as CouchDB does
 * @param revs adds {@code _revisions}
 * @param revsInfo adds {@code _revs_info}
 * @param conflicts adds {@code _conflicts}, if there are any
 * @param deletedConflicts adds {@code _deleted_conflicts}, if there are any
 * @param localSeq adds {@code _local_seq}, the sequence of the document's last update
 * @param fields reads these parts of the body only; empty for all of it
 */
public record ReadOptions(
    Optional<RevisionId> revision,
    boolean revs,
    boolean revsInfo,
    boolean conflicts,
    boolean deletedConflicts,
    boolean localSeq,
    List<FieldPath> fields) {
  public static final ReadOptions DEFAULT =
      new ReadOptions(Optional.empty(), false, false, false, false, false, List.of());

  public ReadOptions {
    fields = List.copyOf(fields);
  }

  /** A leaf instead of the winner. */
  public ReadOptions at(RevisionId leaf) {
    return new ReadOptions(
        Optional.of(leaf), revs, revsInfo, conflicts, deletedConflicts, localSeq, fields);
  }

  /** {@code meta=true}: revisions' states, conflicts and deleted conflicts. */
  public ReadOptions withMeta() {
    return new ReadOptions(revision, revs, true, true, true, localSeq, fields);
  }

  /** What the winner's body alone does not tell. */
  boolean needsBranches() {
    return revs || revsInfo || conflicts || deletedConflicts || localSeq;
  }
}
