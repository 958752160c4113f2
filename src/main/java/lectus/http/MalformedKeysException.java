package lectus.http;

/** A file of keys cannot be understood. The message says why, and names no key. */
public final class MalformedKeysException extends Exception {
  private static final long serialVersionUID = 1L;

  MalformedKeysException(String why) {
    super(why);
  }

  MalformedKeysException(String why, Throwable cause) {
    super(why, cause);
  }
}
