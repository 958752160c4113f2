package lectus.json;

import lectus.json.MalformedTupleException.NewerFormatException;

/**
 * The format of one kind of stored value: its first element or first byte. A higher number belongs
 * to a newer version and is not damage.
 *
 * @param number the highest number that this version reads, and the only one unless {@link #upTo}
 *     is asked
 * @param what the kind of value, as the beginning of a sentence
 */
public record StoredFormat(int number, String what) {
  /**
   * Reads the format of a tuple.
   *
   * @return the tuple after its format
   * @throws NewerFormatException if a newer version wrote it
   * @throws MalformedTupleException if it is damaged
   */
  public TupleReader reader(byte[] value) {
    TupleReader reader = new TupleReader(value, 0);
    check(reader.smallInteger());
    return reader;
  }

  /** Checks a value that has its format and nothing else. */
  public void only(byte[] value) {
    reader(value).end();
  }

  /**
   * Reads a format from 1 to {@link #number}, for values of which several formats are current.
   *
   * @throws NewerFormatException if a newer version wrote it
   * @throws MalformedTupleException if it is damaged
   */
  public int upTo(TupleReader value) {
    int found = value.smallInteger();
    check(found < 1 || found > number ? found : number);
    return found;
  }

  /** Like {@link #reader}, for bytes that are not a tuple. */
  public void checkFirstByte(byte[] value) {
    if (value.length == 0) {
      throw new MalformedTupleException(what + " is damaged: it is empty");
    }
    check(value[0] & 0xff);
  }

  private void check(int found) {
    if (found > number) {
      throw newer(what, found, number);
    }
    if (found < number) {
      throw new MalformedTupleException(what + " is damaged: it has format " + found);
    }
  }

  /**
   * Returns the exception for a format number that this version does not know.
   *
   * @param highest the highest known number
   */
  public static NewerFormatException newer(String what, int found, int highest) {
    return new NewerFormatException(
        what
            + " was written by a newer version of Lectus: it has format "
            + found
            + ", this version reads up to "
            + highest);
  }
}
