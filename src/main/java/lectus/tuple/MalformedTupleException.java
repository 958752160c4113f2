package lectus.tuple;

/**
 * Stored bytes that are no tuple of the expected form: damaged data, or a layout we do not know.
 */
public final class MalformedTupleException extends RuntimeException {
  public MalformedTupleException(String message) {
    super(message);
  }
}
