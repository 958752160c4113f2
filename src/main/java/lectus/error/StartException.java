package lectus.error;

/** A failure to start a server. The message is one sentence for people. */
public final class StartException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final boolean isLasting;

  public StartException(String sentence, Throwable cause) {
    this(sentence, cause, false);
  }

  private StartException(String sentence, Throwable cause, boolean isLasting) {
    super(sentence, cause);
    this.isLasting = isLasting;
  }

  /** Returns the exception for files or values with which no try will succeed. */
  public static StartException lasting(String sentence, Throwable cause) {
    return new StartException(sentence, cause, true);
  }

  /** Returns whether another try would end in the same way unless somebody does something. */
  public boolean isLasting() {
    return isLasting;
  }
}
