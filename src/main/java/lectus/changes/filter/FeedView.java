package lectus.changes.filter;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import lectus.changes.filter.PassingEntries.Passing;
import lectus.changes.log.ChangeEntry;
import lectus.derived.StoredFeed;
import lectus.revision.RevisionId;
import lectus.storedfeed.Standing;

/**
 * What a reader sees of a stored feed, by how documents stand to its channels.
 *
 * @param allLeaves whether every leaf of a document is shown
 */
public record FeedView(FeedFilter.OfFeed filter, boolean allLeaves) {

  /** Whether the reader is told of documents that leave, or only of those that are deleted. */
  public boolean tellsOfDepartures() {
    return filter.left() || feed().definition().isOfChannels();
  }

  public StoredFeed feed() {
    return filter.feed().orElseThrow();
  }

  public Set<String> channels() {
    return filter.read();
  }

  /**
   * Returns the row of an entry; empty if it is not shown.
   *
   * @param inChannels the leaves that are in one of the channels, if they are known
   */
  public Optional<Passing> row(
      ChangeEntry entry, Standing standing, Optional<List<RevisionId>> inChannels) {
    if (standing == Standing.MEMBER || (standing == Standing.BESIDE && allLeaves)) {
      boolean choosesLeaves = allLeaves && entry.branchCount() > 1;
      return Optional.of(new Passing(entry, choosesLeaves ? inChannels : Optional.empty(), false));
    }
    if (filter.left()) {
      return Optional.of(departure(entry));
    }
    // Whoever reads a channel is told that a document of it was deleted.
    boolean isDeletion = feed().definition().isOfChannels() && entry.deleted();
    return isDeletion
        ? Optional.of(new Passing(entry, Optional.of(List.of(entry.winner())), false))
        : Optional.empty();
  }

  private static Passing departure(ChangeEntry entry) {
    return new Passing(entry, Optional.of(List.of(entry.winner())), true);
  }
}
