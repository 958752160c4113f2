package lectus.error;

/**
 * A store cannot be opened. The message is one sentence for the person who starts the server; the
 * cause, if any, is for the log.
 */
public final class StoreOpenException extends RuntimeException {
  public StoreOpenException(String sentence) {
    super(sentence);
  }

  public StoreOpenException(String sentence, Throwable cause) {
    super(sentence, cause);
  }
}
