package lectus.tuple;

/**
 * Stored bytes that cannot be read: damaged data, or, as {@link NewerFormatException}, what a newer
 * version wrote.
 */
public sealed class MalformedTupleException extends RuntimeException permits NewerFormatException {
  public MalformedTupleException(String message) {
    super(message);
  }
}
