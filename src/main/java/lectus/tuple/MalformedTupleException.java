package lectus.tuple;

/**
 * Stored bytes that cannot be decoded: damaged data or, as {@link NewerFormatException}, data that
 * a newer version wrote.
 */
public sealed class MalformedTupleException extends RuntimeException permits NewerFormatException {
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
}
