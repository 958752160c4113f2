package lectus.document.alldocs;

import lectus.revision.RevisionId;

/**
 * A live document as the all-docs index has it.
 *
 * @param winner its winning revision
 * @param branchCount edit branches of the document, deleted ones included: where it is 1 there are
 *     no conflicts to read
 */
public record AllDocsRow(String id, RevisionId winner, int branchCount) {}
