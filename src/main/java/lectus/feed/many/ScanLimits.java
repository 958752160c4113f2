package lectus.feed.many;

/**
 * How much of a store one transaction looks at for a reader of many databases.
 *
 * @param candidates databases that are kept in memory for one reader, some hundred bytes each
 * @param logRows rows of the updates log read at once, of each of its buckets
 * @param rows rows of the catalogue and the updates log looked at in one transaction
 * @param heads databases whose next change is looked up in one transaction
 */
record ScanLimits(int candidates, int logRows, int rows, int heads) {
  static final ScanLimits DEFAULT = new ScanLimits(10_000, 256, 20_000, 500);

  ScanLimits {
    if (candidates < 2 || logRows < 1 || rows < 1 || heads < 1) {
      throw new IllegalArgumentException("Such limits let no reader go on");
    }
  }
}
