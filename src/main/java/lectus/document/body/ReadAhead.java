package lectus.document.body;

/**
 * How many bodies are read together. How large they are is only known once they are there, and one
 * may take 8 MB of key-values, so it begins with few and follows the size of the last ones.
 */
public final class ReadAhead {
  private static final int FIRST_BODIES = 2;
  private static final int MOST_BODIES = 16;

  /** Bytes that are read together. */
  private static final long TARGET_BYTES = 256 * 1024;

  private final int most;
  private int size;

  public ReadAhead() {
    this(FIRST_BODIES, MOST_BODIES);
  }

  /**
   * @param first bodies, or parts of them, to begin with
   * @param most of them at a time
   */
  public ReadAhead(int first, int most) {
    this.size = first;
    this.most = most;
  }

  /** Bodies to read next. */
  public int size() {
    return size;
  }

  /**
   * @param bodies how many were read, at least one
   * @param bytes what they were, as JSON or as they are stored
   */
  public void took(int bodies, long bytes) {
    long usual = Math.max(1, bytes / bodies);
    size = (int) Math.max(1, Math.min(most, TARGET_BYTES / usual));
  }
}
