package lectus.json;

/**
 * Stored bytes that cannot be decoded: damaged data or, as {@link NewerFormatException}, data that
 * a newer version wrote.
 */
public sealed class MalformedTupleException extends RuntimeException {
  public MalformedTupleException(String message) {
    super(message);
  }

  /**
   * Returns a sentence for clients. The message, which says what exactly is wrong, is for the log.
   */
  public final String sentence() {
    return this instanceof NewerFormatException
        ? "Stored data was written by a newer version of Lectus, which is needed to read it."
        : "Stored data is damaged; the log says where.";
  }

  /**
   * Stored bytes that a newer version of Lectus wrote. They are intact, but this version cannot
   * decode them.
   */
  public static final class NewerFormatException extends MalformedTupleException {
    public NewerFormatException(String sentence) {
      super(sentence);
    }
  }
}
