package lectus.derived;

/**
 * A part of each document that a selector needs.
 *
 * @param path as it follows a revision's key; empty for the whole document
 */
public record LeafRead(byte[] path, Extent extent) {

  /** How much of what lies at and below a path a condition needs. */
  public enum Extent {
    /** The leaf at the path itself. */
    LEAF,
    /** The beginning of the first leaf at or below the path, which tells the type. */
    TYPE,
    /** The leaf at the path itself, or the beginning of the first one below it. */
    FIRST,
    /** All leaves at and below the path. */
    ALL;

    /** Returns the smallest extent that contains both. */
    Extent with(Extent other) {
      Extent larger = compareTo(other) < 0 ? other : this;
      return larger == TYPE && this != other ? FIRST : larger;
    }
  }
}
