package lectus.changes.log;

import lectus.database.Sequence;
import lectus.revision.RevisionId;

/**
 * A document's one entry in the changes index (RFC 003).
 *
 * @param sequence the sequence of the last transaction that modified the document; null while that
 *     transaction is being written
 * @param winner the winning revision, not necessarily made by that transaction
 * @param deleted whether the winning revision is a tombstone
 * @param branchCount number of the document's edit branches, deleted ones included; if 1, {@code
 *     style=all_docs} needs no further read
 */
public record ChangeEntry(
    Sequence sequence, String docId, RevisionId winner, boolean deleted, int branchCount) {}
