package lectus.tuple;

/**
 * Stored bytes that cannot be read: damaged data, or, as {@link NewerFormatException}, what a newer
 * version wrote.
 */
public sealed class MalformedTupleException extends RuntimeException permits NewerFormatException {
  public MalformedTupleException(String message) {
    super(message);
  }

  /** A sentence for clients; the message, which says what exactly is wrong, is for the log. */
  public final String sentence() {
    return this instanceof NewerFormatException
        ? "Stored data was written by a newer version of Lectus, which is needed to read it."
        : "Stored data is damaged; the log says where.";
  }
}
