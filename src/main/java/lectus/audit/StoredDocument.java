package lectus.audit;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.tuple.ByteArrayUtil;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import lectus.attachment.AttachmentList;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.database.Validator;
import lectus.document.read.AllDocsSubspace.AllDocsRow;
import lectus.document.write.ValidationMember;
import lectus.revision.EditBranch;
import lectus.revision.EditBranch.BodySize;
import lectus.revision.RevisionId;

/**
 * Everything stored under one document id.
 *
 * @param branches in reverse key order: the rightful winner comes first
 * @param bodies the actual sizes of each revision that has a body
 * @param attachments of each revision that has some
 * @param row of the all-docs index
 * @param isListedAsDeleted whether it has a row of the deleted documents
 * @param validation the document's part in the validation of writes
 * @param defects what could not be read or assembled
 * @param unreadable the rows that could not be read
 * @param damaged whose bodies could not be read wholly
 * @param isOfLaterVersion whether a later version wrote some of it, which is no damage
 */
record StoredDocument(
    String id,
    List<EditBranch> branches,
    Map<Leaf, BodySize> bodies,
    Map<Leaf, AttachmentList> attachments,
    Optional<AllDocsRow> row,
    boolean isListedAsDeleted,
    Validation validation,
    List<String> defects,
    List<KeyValue> unreadable,
    Set<Leaf> damaged,
    boolean isOfLaterVersion) {

  /** The subspaces whose keys begin with a document's id. */
  static final List<DatabaseSubspace> SUBSPACES =
      List.of(
          DatabaseSubspace.REVISIONS,
          DatabaseSubspace.DOCUMENTS,
          DatabaseSubspace.ALL_DOCS,
          DatabaseSubspace.DELETED_DOCS,
          DatabaseSubspace.VALIDATORS);

  /**
   * How a design document validates writes.
   *
   * @param leaves whose bodies have {@code validate_doc_update}
   * @param listed the document among the database's validators
   */
  record Validation(Map<Leaf, ValidationMember> leaves, Optional<Validator> listed) {

    /**
     * Returns what should be listed.
     *
     * @param winner as the document has it
     */
    Optional<Validator> expected(String id, EditBranch winner) {
      return winner.deleted() || !winner.isWinner()
          ? Optional.empty()
          : Optional.ofNullable(leaves.get(Leaf.of(winner)))
              .map(
                  it ->
                      new Validator(
                          id,
                          winner.leaf().toString(),
                          winner.winner().sequence(),
                          it.declaration()));
    }
  }

  /** The leaf that a body belongs to. */
  record Leaf(boolean deleted, RevisionId revision) {
    static Leaf of(EditBranch branch) {
      return new Leaf(branch.deleted(), branch.leaf());
    }

    @Override
    public String toString() {
      return deleted ? "the tombstone " + revision : revision.toString();
    }
  }

  /** Reads one document at the transaction's version. */
  static StoredDocument read(ReadTransaction tx, DatabaseHandle db, String id) {
    StoredDocumentBuilder document = new StoredDocumentBuilder(db, id);
    for (DatabaseSubspace subspace : SUBSPACES) {
      Consumer<KeyValue> part = document.part(subspace);
      byte[] head = subspace.key(db.prefix()).string(id).toBytes();
      tx.getRange(new Range(head, ByteArrayUtil.strinc(head))).forEach(part);
    }
    return document.build();
  }

  /** Returns whether nothing is stored under the id. */
  boolean isEmpty() {
    return branches.isEmpty()
        && bodies.isEmpty()
        && row.isEmpty()
        && !isListedAsDeleted
        && validation.listed().isEmpty()
        && defects.isEmpty();
  }

  /**
   * Returns the size of a branch's body; empty if it is missing, or not what was written. Where all
   * of it can be read, the branch may be wrong about its size.
   */
  Optional<BodySize> wholeBody(EditBranch branch) {
    BodySize stored = bodies.get(Leaf.of(branch));
    if (stored == null) {
      boolean needsNone = branch.deleted() && !branch.body().isStored();
      return needsNone ? Optional.of(branch.body()) : Optional.empty();
    }
    boolean isWhole = stored.equals(branch.body()) || !damaged.contains(Leaf.of(branch));
    return isWhole ? Optional.of(stored) : Optional.empty();
  }

  /** Whether there are rows that cannot be read, and nothing is lost without them. */
  boolean hasStraysOnly() {
    return !unreadable.isEmpty()
        && branches.stream()
            .allMatch(
                it -> !damaged.contains(Leaf.of(it)) || it.body().equals(bodies.get(Leaf.of(it))));
  }

  /** Returns the branch that should win. Empty if there is none. */
  Optional<EditBranch> winner() {
    return branches.isEmpty() ? Optional.empty() : Optional.of(branches.get(0));
  }
}
