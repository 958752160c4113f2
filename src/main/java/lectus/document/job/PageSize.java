package lectus.document.job;

/**
 * How many documents a transaction of a task looks at: many, because each costs a round trip, but
 * not so many that it takes long or that their writers are in the way.
 */
final class PageSize {
  static final int MOST = 4_000;

  /** While requests wait. */
  private static final int FEW = 250;

  private static final int FIRST = 1_000;
  private static final long SHORT_NANOS = 500_000_000;
  private static final long LONG_NANOS = 1_500_000_000;

  private final int most;
  private int documents;

  PageSize(int most) {
    this.most = most;
    this.documents = Math.min(most, FIRST);
  }

  int documents(boolean isBusy) {
    return isBusy ? Math.min(documents, FEW) : documents;
  }

  void took(long nanos) {
    if (nanos < SHORT_NANOS) {
      documents = Math.min(most, 2 * documents);
    } else if (nanos > LONG_NANOS) {
      documents = Math.max(1, documents / 2);
    }
  }

  /** A page ended early, because the documents are large. */
  void wasCut(int filled) {
    documents = Math.max(1, Math.min(documents, 2 * filled));
  }

  /** The page did not fit into a transaction, or conflicted with a writer. */
  void wasTooMuch() {
    documents = Math.max(1, documents / 4);
  }

  boolean isLeast() {
    return documents == 1;
  }
}
