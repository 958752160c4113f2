package lectus.changes;

import lectus.database.Sequence;
import lectus.revision.RevisionId;

/**
 * A document's one entry in the changes index (RFC 003).
 *
 * @param sequence of the last transaction that modified the document; null while that transaction
 *     is still being written
 * @param winner the winning revision, which that transaction did not necessarily make
 * @param deleted whether the winning revision is a tombstone
 * @param branchCount edit branches of the document, deleted ones included: where it is 1, {@code
 *     style=all_docs} needs no further read
 */
public record ChangeEntry(
    Sequence sequence, String docId, RevisionId winner, boolean deleted, int branchCount) {}
