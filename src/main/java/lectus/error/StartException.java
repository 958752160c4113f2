package lectus.error;

/** A failure to start a server. The message is one sentence for people. */
public final class StartException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public StartException(String sentence, Throwable cause) {
    super(sentence, cause);
  }
}
