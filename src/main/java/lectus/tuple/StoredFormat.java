package lectus.tuple;

/**
 * The format of one kind of stored value: its first element, or its first byte. Values are written
 * in it, and no other one is read. A higher number is a newer version's, and no damage.
 *
 * @param what the kind of value, as the beginning of a sentence
 */
public record StoredFormat(int number, String what) {
  /**
   * Reads the format of a tuple.
   *
   * @return the tuple behind its format
   * @throws NewerFormatException if a newer version wrote it
   * @throws MalformedTupleException if it is damaged
   */
  public TupleReader reader(byte[] value) {
    TupleReader reader = new TupleReader(value, 0);
    check(reader.smallInteger());
    return reader;
  }

  /** As {@link #reader}, for bytes that are no tuple. */
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
   * What is thrown for a number that this version does not know.
   *
   * @param highest the highest one that it knows
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
