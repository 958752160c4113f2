package lectus.error;

/**
 * A store cannot be opened. The message is one sentence for the person who starts the server; the
 * cause, if any, is for the log.
 */
public final class StoreOpenException extends RuntimeException {
  private final boolean isDamage;

  public StoreOpenException(String sentence) {
    this(sentence, null, false);
  }

  public StoreOpenException(String sentence, Throwable cause) {
    this(sentence, cause, false);
  }

  private StoreOpenException(String sentence, Throwable cause, boolean isDamage) {
    super(sentence, cause);
    this.isDamage = isDamage;
  }

  /** Returns the exception for a store with something missing or broken. */
  public static StoreOpenException damage(String sentence) {
    return damage(sentence, null);
  }

  /** Like {@link #damage(String)}, with the failure that revealed it. */
  public static StoreOpenException damage(String sentence, Throwable cause) {
    return new StoreOpenException(sentence, cause, true);
  }

  /** Returns whether the store itself is at fault, rather than how or where it was to be opened. */
  public boolean isDamage() {
    return isDamage;
  }
}
