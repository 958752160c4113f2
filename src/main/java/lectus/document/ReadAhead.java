package lectus.document;

/**
 * Decides how many bodies to read together: on a cluster each group is a round trip. The size of a
 * body is known only once it has been read, and one may take 8 MB of key-values, of which the first
 * 80 kB are held while it waits. So the number follows the size of the last ones.
 */
public final class ReadAhead {
  private static final int FIRST_BODIES = 50;
  private static final int MAX_BODIES = 64;

  /** Target size of the bodies read together, in bytes. */
  private static final long TARGET_BYTES = 256 * 1024;

  private final int most;
  private final long targetBytes;
  private int size;

  /** Bytes of each of the last ones; 0 before the first. */
  private long usual;

  public ReadAhead() {
    this(FIRST_BODIES, MAX_BODIES);
  }

  /**
   * @param first number of bodies, or parts of them, to begin with
   * @param most maximum number at a time
   */
  public ReadAhead(int first, int most) {
    this(first, most, TARGET_BYTES);
  }

  /**
   * @param targetBytes size of what is read together
   */
  public ReadAhead(int first, int most, long targetBytes) {
    this.size = first;
    this.most = most;
    this.targetBytes = targetBytes;
  }

  /** Returns the number of bodies to read next. */
  public int size() {
    return size;
  }

  /** Returns how many are expected to take no more than {@code room} bytes. */
  public long fitting(long room) {
    return usual == 0 ? Long.MAX_VALUE : Math.max(0, room / usual);
  }

  /**
   * @param bodies how many were read, at least one
   * @param bytes their size, as JSON or as stored
   */
  public void took(int bodies, long bytes) {
    usual = Math.max(1, bytes / bodies);
    size = (int) Math.max(1, Math.min(most, targetBytes / usual));
  }
}
