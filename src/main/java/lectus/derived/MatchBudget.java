package lectus.derived;

/**
 * The work that one selector may spend on one document. A unit is one instruction of a regular
 * expression on one character, or one condition on a leaf or on 16 bytes of it: 20 to 90 ns, more
 * for a large program. It is charged while the document is examined. So neither the document's size
 * nor the selector's can block a reader for more than a few seconds, and a transaction ends within
 * its five seconds.
 *
 * <p>The budget suffices for a regular expression of ten instructions on a string of five
 * megabytes, or one of a hundred on half a megabyte.
 *
 * <p>Exceeding it is an error that names the document and ends the feed before it. The document is
 * not skipped, because a replica would then silently lack it. The client has to change the selector
 * or the document.
 */
final class MatchBudget {
  static final long MAX_WORK = 50_000_000;

  /** The same while many others wait for the document: at most about 100 ms. */
  static final long MAX_WORK_BESIDE_OTHERS = 2_000_000;

  private final String docId;
  private long left;

  /**
   * @param work the units that may be spent
   */
  MatchBudget(String docId, long work) {
    this.docId = docId;
    this.left = work;
  }

  /**
   * @throws lectus.error.LectusException 400 {@code bad_request} when the budget is exceeded
   */
  void spend(long work) {
    left -= work;
    if (left < 0) {
      throw SelectorErrors.tooMuchWork(docId);
    }
  }

  boolean isOverspent() {
    return left < 0;
  }

  /** Returns what may still be spent; negative if too much was. */
  long left() {
    return left;
  }
}
