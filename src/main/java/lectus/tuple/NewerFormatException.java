package lectus.tuple;

/**
 * Stored bytes that a newer version of Lectus wrote: nothing is wrong with them, but this version
 * does not know how to read them.
 */
public final class NewerFormatException extends MalformedTupleException {
  public NewerFormatException(String sentence) {
    super(sentence);
  }
}
