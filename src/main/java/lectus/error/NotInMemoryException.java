package lectus.error;

/** A memory-only read would have to go to the disk. */
public final class NotInMemoryException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public static final NotInMemoryException INSTANCE = new NotInMemoryException();

  /** Omits the stack trace: this is an answer, not a defect. */
  private NotInMemoryException() {
    super("not in memory", null, false, false);
  }
}
