package lectus.feed.many;

/**
 * How much of a store one transaction looks at for a reader of many databases.
 *
 * @param candidates databases that are kept in memory for one reader if {@link CandidateMemory}
 *     allows
 * @param logRows rows of the updates log read at once, of each of its buckets
 * @param listed rows of the catalogue read at once
 * @param rows rows of the catalogue, and again of the updates log, looked at in one transaction
 * @param openings databases that are looked into in one transaction
 */
record ScanLimits(int candidates, int logRows, int listed, int rows, int openings) {
  static final ScanLimits DEFAULT = new ScanLimits(4_000_000, 256, 2_000, 20_000, 2_000);

  ScanLimits {
    if (candidates < 2 || logRows < 1 || listed < 1 || rows < 1 || openings < 1) {
      throw new IllegalArgumentException("Such limits let no reader go on");
    }
  }
}
