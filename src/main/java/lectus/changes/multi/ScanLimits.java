package lectus.changes.multi;

/**
 * Limits on how much of a store one transaction examines for a reader of many databases.
 *
 * @param candidates candidates kept in memory for one reader if {@link CandidateMemory} allows
 * @param logRows rows of the updates log read at once from each bucket
 * @param listed rows of the catalogue read at once
 * @param rows rows of the catalogue, and likewise of the updates log, examined in one transaction
 * @param openings databases opened in one transaction
 */
record ScanLimits(int candidates, int logRows, int listed, int rows, int openings) {
  static final ScanLimits DEFAULT = new ScanLimits(4_000_000, 256, 2_000, 20_000, 2_000);

  ScanLimits {
    if (candidates < 2 || logRows < 1 || listed < 1 || rows < 1 || openings < 1) {
      throw new IllegalArgumentException("With these limits no reader makes progress");
    }
  }
}
