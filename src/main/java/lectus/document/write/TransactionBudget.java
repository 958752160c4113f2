package lectus.document.write;

/**
 * Limits on one transaction, in the store's own measure (keys, values, and what each mutation and
 * conflict range adds).
 *
 * @param batchBytes size at which a batch continues in another transaction
 * @param mostBytes size that no transaction exceeds: a single document, or an atomic request, that
 *     weighs more is refused
 * @param documents number of documents at which a batch continues in another transaction; two bytes
 *     of the versionstamp number them
 */
record TransactionBudget(long batchBytes, long mostBytes, int documents) {
  /** Bytes that the store adds for each mutation. */
  static final int MUTATION_BYTES = 44;

  /** Bytes that the store adds for each conflict range. */
  static final int CONFLICT_RANGE_BYTES = 25;

  /** Maximum number of documents that a versionstamp's two user bytes can number, from 1. */
  static final int MAX_DOCUMENTS = (1 << 16) - 1;

  /** Below the store's limit of 10 MB, because its measure differs a little between builds. */
  static final TransactionBudget DEFAULT = new TransactionBudget(4_000_000, 9_500_000, 2_000);

  TransactionBudget {
    if (documents < 1 || documents > MAX_DOCUMENTS) {
      throw new IllegalArgumentException("Not a number of documents: " + documents);
    }
  }
}
