package lectus.selector;

/**
 * How much of what lies at and below a path a condition looks at; each contains the ones before.
 */
public enum Extent {
  /** The leaf at the path itself. */
  LEAF,
  /** The first leaf at or below the path, which tells the type. */
  FIRST,
  /** All leaves at and below the path. */
  ALL
}
