package lectus.feed;

/** What stands between the rows of a feed. */
public enum RowFraming {
  /**
   * Elements of an array: a comma and a line end between two rows of one page. Between pages the
   * caller writes {@link FeedText#appendSeparator}.
   */
  ARRAY,
  /** Each row a line. */
  LINES
}
