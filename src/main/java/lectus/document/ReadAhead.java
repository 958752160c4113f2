package lectus.document;

/**
 * How many bodies are read together. How large they are is only known once they are there, and one
 * may take 8 MB of key-values, so it begins with few and follows the size of the last ones.
 */
public final class ReadAhead {
  private static final int FIRST = 2;
  private static final int MOST = 16;

  /** Bytes of JSON that are read together. */
  private static final long TARGET_BYTES = 256 * 1024;

  private int size = FIRST;

  /** Bodies to read next. */
  public int size() {
    return size;
  }

  /**
   * @param bodies how many were read, at least one
   * @param bytes what they were as JSON
   */
  public void took(int bodies, long bytes) {
    long usual = Math.max(1, bytes / bodies);
    size = (int) Math.max(1, Math.min(MOST, TARGET_BYTES / usual));
  }
}
