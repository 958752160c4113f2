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

  /** There is a store, and something of it is missing or broken. */
  public static StoreOpenException damage(String sentence) {
    return damage(sentence, null);
  }

  /** As {@link #damage(String)}, with what showed it. */
  public static StoreOpenException damage(String sentence, Throwable cause) {
    return new StoreOpenException(sentence, cause, true);
  }

  /** Whether the store itself is at fault, and not how or where it was to be opened. */
  public boolean isDamage() {
    return isDamage;
  }
}
