package lectus.revision;

import lectus.database.Sequence;

/**
 * What only the winning edit branch of a document carries (RFC 001): the one thing that every edit
 * of the document reads and writes, so that concurrent edits conflict.
 *
 * @param sequence of the last transaction that modified the document, which is not necessarily the
 *     one that made this branch's leaf; null while that transaction is still being written
 * @param branchCount edit branches of the document, deleted ones included
 */
public record Winner(Sequence sequence, int branchCount) {
  public Winner {
    if (branchCount < 1) {
      throw new IllegalArgumentException("A document has at least one edit branch");
    }
  }

  /** For the transaction being written: the store fills in the sequence when it commits. */
  public static Winner beingWritten(int branchCount) {
    return new Winner(null, branchCount);
  }
}
