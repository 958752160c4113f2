package lectus.tuple;

/**
 * Stored bytes that a newer version of Lectus wrote. They are intact, but this version cannot
 * decode them.
 */
public final class NewerFormatException extends MalformedTupleException {
  public NewerFormatException(String sentence) {
    super(sentence);
  }
}
