package lectus.document.list;

import lectus.revision.RevisionId;

/**
 * A live document, as stored in the all-docs index.
 *
 * @param winner its winning revision
 * @param branchCount number of the document's edit branches, deleted ones included; if 1, there are
 *     no conflicts to read
 */
public record AllDocsRow(String id, RevisionId winner, int branchCount) {}
