package lectus.feed;

import java.util.List;
import java.util.Optional;
import lectus.changes.ChangeEntry;
import lectus.revision.RevisionId;

/** The entries of a page that a filter lets through, in their order. */
interface PassingEntries {
  boolean hasNext();

  Passing next();

  /**
   * How many entries come before the next call's: up to and with the one given out last, or, when
   * there was no next one, all of which it is known.
   */
  int lookedAt();

  /**
   * @param revisions the leaves that are shown; empty for those that the feed's style shows
   */
  record Passing(ChangeEntry entry, Optional<List<RevisionId>> revisions) {}
}
