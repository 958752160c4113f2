package lectus.feed;

/**
 * What a feed's rows show.
 *
 * @param allLeaves {@code style=all_docs}: every leaf of a document, not only its winner
 * @param includeDocs adds the winner's body
 * @param conflicts adds {@code _conflicts} to it
 * @param filter which rows are shown
 * @param sequenceInterval every how many rows one has its sequence, the others null; 1 for all
 */
public record FeedOptions(
    boolean allLeaves,
    boolean includeDocs,
    boolean conflicts,
    FeedFilter filter,
    long sequenceInterval) {
  public static final FeedOptions DEFAULT =
      new FeedOptions(false, false, false, new FeedFilter.None(), 1);

  public FeedOptions {
    if (sequenceInterval < 1) {
      throw new IllegalArgumentException("seq_interval must be positive: " + sequenceInterval);
    }
  }
}
