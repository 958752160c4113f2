package lectus.document.write;

/**
 * How much goes into one transaction, by the store's own measure (keys, values, and what each
 * mutation and conflict range adds).
 *
 * @param batchBytes a batch that reaches it goes on in another transaction
 * @param mostBytes what no transaction exceeds: a single document, or an atomic request, that
 *     weighs more is refused
 * @param documents a batch of so many goes on in another transaction; two bytes of the versionstamp
 *     number them
 */
record TransactionBudget(long batchBytes, long mostBytes, int documents) {
  /** What the store adds to the bytes of each mutation. */
  static final int MUTATION_BYTES = 44;

  /** What the store adds to the bounds of each conflict range. */
  static final int CONFLICT_RANGE_BYTES = 25;

  /** Documents that the user bytes of a versionstamp can number from 1. */
  static final int MOST_DOCUMENTS = (1 << 16) - 1;

  /** Below the store's 10 MB, whose measure differs a little from build to build. */
  static final TransactionBudget DEFAULT = new TransactionBudget(4_000_000, 9_500_000, 2_000);

  TransactionBudget {
    if (documents < 1 || documents > MOST_DOCUMENTS) {
      throw new IllegalArgumentException("Not a number of documents: " + documents);
    }
  }
}
