package lectus.storedfeed;

import lectus.tuple.MalformedTupleException;

/** How a document stands to a channel of a stored feed. Its number is stored. */
public enum Standing {
  /** Its winner is in the channel. */
  MEMBER(0),
  /** Another leaf is in the channel, its winner is not. */
  BESIDE(1),
  /** It was in the channel, and the edit took it out. */
  LEFT(2);

  private final int number;

  Standing(int number) {
    this.number = number;
  }

  int number() {
    return number;
  }

  /** Returns the one with this number. */
  static Standing numbered(int number) {
    for (Standing standing : values()) {
      if (standing.number == number) {
        return standing;
      }
    }
    throw new MalformedTupleException("No standing has the number " + number);
  }

  /** Returns the one that says more of a document in two channels at once. */
  public Standing or(Standing other) {
    return compareTo(other) <= 0 ? this : other;
  }
}
