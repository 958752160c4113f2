package lectus.revision;

import lectus.database.Sequence;

/**
 * The part of the metadata that only a document's winning edit branch has (RFC 001). Every edit of
 * the document reads and writes it, so that concurrent edits conflict.
 *
 * @param sequence the sequence of the last transaction that modified the document, not necessarily
 *     the one that made this branch's leaf; null while that transaction is being written
 * @param branchCount number of the document's edit branches, deleted ones included
 */
public record Winner(Sequence sequence, int branchCount) {
  public Winner {
    if (branchCount < 1) {
      throw new IllegalArgumentException("A document has at least one edit branch");
    }
  }

  /**
   * Returns the winner for the transaction being written; the store fills in the sequence when it
   * commits.
   */
  public static Winner beingWritten(int branchCount) {
    return new Winner(null, branchCount);
  }
}
