package lectus.document;

/**
 * How much one transaction reads for a long answer, which must be done within five seconds and be
 * held in memory. A page ends behind the row that reaches a limit.
 *
 * @param rows rows read at once
 * @param bodies the same where each row brings a body
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
