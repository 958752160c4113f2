package lectus.feed.filter;

import com.apple.foundationdb.ReadTransaction;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import lectus.changes.ChangeEntry;
import lectus.channel.DatabaseFeeds;
import lectus.channel.StoredFeed;
import lectus.database.DatabaseHandle;
import lectus.database.FeedsSubspace;
import lectus.document.feed.Standing;
import lectus.feed.filter.PassingEntries.Passing;
import lectus.revision.RevisionId;
import lectus.store.Awaiting;

/**
 * What a reader sees of a stored feed, by how documents stand to its channels.
 *
 * @param allLeaves whether every leaf of a document is shown
 */
public record FeedView(FeedFilter.OfFeed filter, boolean allLeaves) {

  /**
   * Returns the view in a database. Among many databases, one without such a feed shows nothing.
   */
  static Optional<FeedView> find(
      ReadTransaction tx, DatabaseHandle db, FeedFilter.OfFeed filter, boolean allLeaves) {
    if (filter.feed().isPresent()) {
      return Optional.of(new FeedView((FeedFilter.OfFeed) filter.in(db), allLeaves));
    }
    DatabaseFeeds feeds =
        db.feeds().isEmpty()
            ? new DatabaseFeeds(Awaiting.await(new FeedsSubspace(db.prefix()).all(tx)))
            : db.feeds();
    return feeds
        .named(filter.name())
        .filter(filter::suits)
        .map(feed -> new FeedView(filter.of(feed), allLeaves));
  }

  public StoredFeed feed() {
    return filter.feed().orElseThrow();
  }

  public Set<String> channels() {
    return filter.read();
  }

  /** Whether it matters of an entry's document in which channels its losing leaves are. */
  public boolean looksBesideWinner(ChangeEntry entry) {
    return entry.branchCount() > 1 && (allLeaves || filter.left());
  }

  /** Whether it matters if the document has left a channel. */
  public boolean looksAtDepartures(ChangeEntry entry) {
    return filter.left() || (feed().definition().isOfChannels() && entry.deleted());
  }

  /**
   * Returns the row of an entry; empty if it is not shown.
   *
   * @param inChannels the leaves that are in one of the channels, if they are known
   */
  public Optional<Passing> row(
      ChangeEntry entry, Standing standing, Optional<List<RevisionId>> inChannels) {
    if (standing == Standing.LEFT) {
      return departed(entry);
    }
    if (allLeaves) {
      return Optional.of(
          new Passing(entry, entry.branchCount() > 1 ? inChannels : Optional.empty(), false));
    }
    return standing == Standing.MEMBER
        ? Optional.of(new Passing(entry, Optional.empty(), false))
        : Optional.of(departure(entry)).filter(it -> filter.left());
  }

  /** Whoever reads a channel is told that a document of it was deleted. */
  private Optional<Passing> departed(ChangeEntry entry) {
    if (filter.left()) {
      return Optional.of(departure(entry));
    }
    boolean isDeletion = feed().definition().isOfChannels() && entry.deleted();
    return isDeletion
        ? Optional.of(new Passing(entry, Optional.of(List.of(entry.winner())), false))
        : Optional.empty();
  }

  private static Passing departure(ChangeEntry entry) {
    return new Passing(entry, Optional.of(List.of(entry.winner())), true);
  }
}
