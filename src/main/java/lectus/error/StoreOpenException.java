package lectus.error;

/**
 * A store cannot be opened. The message is one sentence for the person who starts the server; the
 * cause, if any, is for the log.
 */
public final class StoreOpenException extends RuntimeException {
  private final Fault fault;

  private enum Fault {
    /** How or where it was to be opened. */
    OPENING,
    /** The store itself. */
    DAMAGE,
    /** The folder has something else, or a store of another format. */
    FOREIGN,
    /** Another process, or another part of this one, has it open. */
    HELD
  }

  public StoreOpenException(String sentence) {
    this(sentence, null, Fault.OPENING);
  }

  public StoreOpenException(String sentence, Throwable cause) {
    this(sentence, cause, Fault.OPENING);
  }

  private StoreOpenException(String sentence, Throwable cause, Fault fault) {
    super(sentence, cause);
    this.fault = fault;
  }

  /** Returns the exception for a store with something missing or broken. */
  public static StoreOpenException damage(String sentence) {
    return damage(sentence, null);
  }

  /** Like {@link #damage(String)}, with the failure that revealed it. */
  public static StoreOpenException damage(String sentence, Throwable cause) {
    return new StoreOpenException(sentence, cause, Fault.DAMAGE);
  }

  /** Returns the exception for something that is no store, or one of another format. */
  public static StoreOpenException foreign(String sentence) {
    return new StoreOpenException(sentence, null, Fault.FOREIGN);
  }

  /** Returns the exception for a store that is open elsewhere. */
  public static StoreOpenException held(String sentence) {
    return held(sentence, null);
  }

  /** Like {@link #held(String)}, with the failure that revealed it. */
  public static StoreOpenException held(String sentence, Throwable cause) {
    return new StoreOpenException(sentence, cause, Fault.HELD);
  }

  /** Returns whether the store itself is at fault, rather than how or where it was to be opened. */
  public boolean isDamage() {
    return fault == Fault.DAMAGE;
  }

  /** Returns whether another try would end in the same way unless somebody does something. */
  public boolean isLasting() {
    return fault == Fault.DAMAGE || fault == Fault.FOREIGN;
  }

  /** Returns whether the store is open elsewhere. */
  public boolean isHeld() {
    return fault == Fault.HELD;
  }
}
