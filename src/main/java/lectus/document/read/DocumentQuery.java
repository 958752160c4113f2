package lectus.document.read;

import java.util.List;
import java.util.Optional;
import lectus.document.AttachmentsShown;
import lectus.json.FieldPath;
import lectus.revision.RevisionId;

/**
 * What to read of a document, and what to add to it.
 *
 * @param revision reads this leaf instead of the winner; as in CouchDB, {@code conflicts}, {@code
 *     deletedConflicts}, {@code revsInfo} and {@code localSeq} are then ignored
 * @param revs adds {@code _revisions}
 * @param revsInfo adds {@code _revs_info}
 * @param conflicts adds {@code _conflicts}, if there are any
 * @param deletedConflicts adds {@code _deleted_conflicts}, if there are any
 * @param localSeq adds {@code _local_seq}, the sequence of the document's last update
 * @param fields reads only these parts of the body; empty for all of it
 * @param attachments how they are shown
 */
public record DocumentQuery(
    Optional<RevisionId> revision,
    boolean revs,
    boolean revsInfo,
    boolean conflicts,
    boolean deletedConflicts,
    boolean localSeq,
    List<FieldPath> fields,
    AttachmentsShown attachments) {
  public static final DocumentQuery DEFAULT =
      new DocumentQuery(Optional.empty(), false, false, false, false, false, List.of());

  /** Shows attachments as stubs. */
  public DocumentQuery(
      Optional<RevisionId> revision,
      boolean revs,
      boolean revsInfo,
      boolean conflicts,
      boolean deletedConflicts,
      boolean localSeq,
      List<FieldPath> fields) {
    this(
        revision,
        revs,
        revsInfo,
        conflicts,
        deletedConflicts,
        localSeq,
        fields,
        AttachmentsShown.STUBS);
  }

  public DocumentQuery {
    fields = List.copyOf(fields);
  }

  /** Returns the query of a leaf instead of the winner. */
  public DocumentQuery at(RevisionId leaf) {
    return new DocumentQuery(
        Optional.of(leaf),
        revs,
        revsInfo,
        conflicts,
        deletedConflicts,
        localSeq,
        fields,
        attachments);
  }

  /** Returns the query with {@code meta=true}: revision states, conflicts and deleted conflicts. */
  public DocumentQuery withMeta() {
    return new DocumentQuery(revision, revs, true, true, true, localSeq, fields, attachments);
  }

  /** Returns the query with attachments shown in another way. */
  public DocumentQuery showing(AttachmentsShown other) {
    return new DocumentQuery(
        revision, revs, revsInfo, conflicts, deletedConflicts, localSeq, fields, other);
  }

  /** Whether the query needs more than the winner's body. */
  boolean needsBranches() {
    return revs
        || revsInfo
        || conflicts
        || deletedConflicts
        || localSeq
        || !attachments.equals(AttachmentsShown.STUBS);
  }
}
