package lectus.storedfeed;

import lectus.changes.log.ChangeEntry;

/**
 * An entry of a stored feed.
 *
 * @param entry as the changes index has it or, of a document that has left, had it then
 */
public record FeedEntry(ChangeEntry entry, Standing standing) {
  /** Returns the entry of a document that is in two channels under the same sequence. */
  public FeedEntry and(FeedEntry other) {
    return new FeedEntry(entry, standing.or(other.standing));
  }
}
