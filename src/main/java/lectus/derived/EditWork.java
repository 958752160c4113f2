package lectus.derived;

import lectus.json.LeafView;

/**
 * The work that the selectors of all indexes and stored feeds of a database may spend on one edit
 * of a document, in {@link MatchBudget}'s units. The edit's transaction does it, so all together
 * take about 50 ms. Each selector may spend {@link #EACH} in any case. What exceeds that comes out
 * of a part that all have in common, in the order in which they are asked. So a cheap selector
 * never depends on its neighbours, and a costly one may.
 */
public final class EditWork {
  /**
   * At most 64 indexes and 32 stored feeds look at the document before and after the edit: 384 000
   * together.
   */
  static final long EACH = 2_000;

  static final long IN_COMMON = 600_000;

  /** When a transaction's edits together have spent so much, it takes no further ones. */
  public static final long MAX_AT_ONCE = IN_COMMON / 2;

  private final String docId;
  private long inCommon;
  private long spent;

  public EditWork(String docId) {
    this(docId, IN_COMMON);
  }

  private EditWork(String docId, long inCommon) {
    this.docId = docId;
    this.inCommon = inCommon;
  }

  /** Returns what a reader may spend on a document that its feed has: as one selector may alone. */
  public static EditWork ofReader(String docId) {
    return new EditWork(docId, MatchBudget.MAX_WORK);
  }

  public long spent() {
    return spent;
  }

  /** Returns what one selector may spend on one version of the document, on all its leaves. */
  public Share share() {
    return new Share();
  }

  /** What one selector may spend. */
  public final class Share {
    private long own = EACH;
    private boolean isCertain = true;

    private Share() {}

    /**
     * @throws lectus.error.LectusException {@code bad_request}: it would take too much
     */
    public boolean matches(Selector selector, LeafView leaf) {
      MatchBudget budget = new MatchBudget(docId, own + inCommon);
      try {
        return selector.condition().holds(leaf, budget);
      } finally {
        isCertain &= budget.left() >= inCommon;
        charge(own + inCommon - Math.max(0, budget.left()));
      }
    }

    private void charge(long work) {
      long ofOwn = Math.min(own, work);
      own -= ofOwn;
      inCommon -= work - ofOwn;
      spent += work;
    }

    /**
     * Whether the answers are the same whatever the neighbours are: no more was spent than each may
     * spend.
     */
    public boolean isCertain() {
      return isCertain;
    }
  }
}
