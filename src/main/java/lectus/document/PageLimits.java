package lectus.document;

/**
 * Limits on what one transaction reads for a long answer. A page has to be read within five seconds
 * and fit into memory. It ends after the row that reaches a limit.
 *
 * @param rows rows read at once
 * @param bodies rows read at once where each row has a body
 * @param bytes bytes of the answer
 */
public record PageLimits(int rows, int bodies, int bytes) {
  public static final PageLimits DEFAULT = new PageLimits(2_000, 400, 192 * 1024);

  public PageLimits {
    if (rows < 1 || bodies < 1 || bytes < 1) {
      throw new IllegalArgumentException("A page holds at least one row");
    }
  }

  public int rows(boolean withBodies) {
    return withBodies ? bodies : rows;
  }
}
