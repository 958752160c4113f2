package lectus.feed.page;

import java.util.List;
import lectus.feed.filter.FeedFilter;
import lectus.json.FieldPath;
import lectus.selector.SelectorIndex;

/**
 * What a feed's rows show.
 *
 * @param allLeaves {@code style=all_docs}: every leaf of a document, not only its winner
 * @param includeDocs adds the winner's body
 * @param conflicts adds {@code _conflicts} to it
 * @param filter which rows are shown
 * @param sequenceInterval every how many rows one has its sequence, the others null; 1 for all
 * @param fields of the body to be read and shown, {@code _id} and {@code _rev} among them only if
 *     they are named; empty for all
 */
public record FeedOptions(
    boolean allLeaves,
    boolean includeDocs,
    boolean conflicts,
    FeedFilter filter,
    long sequenceInterval,
    List<FieldPath> fields) {
  public static final FeedOptions DEFAULT =
      new FeedOptions(false, false, false, new FeedFilter.None(), 1);

  public FeedOptions {
    if (sequenceInterval < 1) {
      throw new IllegalArgumentException("seq_interval must be positive: " + sequenceInterval);
    }
    fields = List.copyOf(fields);
  }

  /** With whole bodies. */
  public FeedOptions(
      boolean allLeaves,
      boolean includeDocs,
      boolean conflicts,
      FeedFilter filter,
      long sequenceInterval) {
    this(allLeaves, includeDocs, conflicts, filter, sequenceInterval, List.of());
  }

  /** What a row that passes looks like, whatever the filter is: equal for equal rows. */
  FeedOptions shape() {
    return new FeedOptions(
        allLeaves,
        includeDocs,
        includeDocs && conflicts,
        new FeedFilter.None(),
        sequenceInterval,
        includeDocs ? fields : List.of());
  }

  /** Whether only a look at each document tells if it passes. */
  boolean scans() {
    return filter instanceof FeedFilter.Selected some && !SelectorIndex.finds(some.selector());
  }
}
