package lectus.selector;

/**
 * The work that one selector may take on one document. A unit is what one instruction of a regular
 * expression does with a character, or a condition with a leaf or with 16 bytes of it: 20 to 90 ns,
 * more where the program is large. It is spent while the document is looked at, so that neither its
 * size nor the selector's can keep a reader for longer than some seconds, and a transaction ends
 * before the five that it has.
 *
 * <p>A regular expression of ten instructions has enough for a string of five megabytes, one of a
 * hundred for half a megabyte.
 *
 * <p>What is too much is an error that names the document, and ends the feed before it. The
 * document is not passed over: a replica would then lack it without anybody's knowing. Whoever
 * asked mends the selector, or the document.
 */
final class MatchBudget {
  static final long MOST_WORK = 50_000_000;

  /** The same where many others wait for the document: at most some 100 ms. */
  static final long MOST_WORK_BESIDE_OTHERS = 2_000_000;

  private final String docId;
  private long left;

  /**
   * @param work that may be spent
   */
  MatchBudget(String docId, long work) {
    this.docId = docId;
    this.left = work;
  }

  /**
   * @throws lectus.error.LectusException 400 {@code bad_request} when too much was spent
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
}
