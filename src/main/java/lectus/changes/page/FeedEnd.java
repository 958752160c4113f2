package lectus.changes.page;

import java.util.List;
import java.util.Optional;
import lectus.database.ShardId;
import lectus.error.LectusError;

/**
 * The reason why a live feed is over. The feed ends in order: all rows up to its end were
 * delivered.
 */
public sealed interface FeedEnd {

  /** Returns the error that the client is told with it; empty if nothing is wrong. */
  default Optional<LectusError> error() {
    return Optional.empty();
  }

  record DatabaseDeleted() implements FeedEnd {}

  /**
   * The shard that was read has been replaced, and everything in it was read (RFC 018).
   *
   * @param position where the generation begins that replaced it: readers of the new shards begin
   *     there
   * @param shards the shards of that generation
   */
  record Resharded(ResumePoint<?> position, List<ShardId> shards) implements FeedEnd {
    public Resharded {
      shards = List.copyOf(shards);
    }
  }

  record UntilReached() implements FeedEnd {}

  record LimitReached() implements FeedEnd {}

  /** There was nothing to deliver for as long as the client wanted to wait. */
  record TimedOut() implements FeedEnd {}

  /** The client may not see any more; nothing that came later was delivered. */
  record NotAllowed(LectusError why) implements FeedEnd {
    @Override
    public Optional<LectusError> error() {
      return Optional.of(why);
    }
  }

  /** The function that filters the feed gives no answer about the next change. */
  record FilterFailed(LectusError why) implements FeedEnd {
    @Override
    public Optional<LectusError> error() {
      return Optional.of(why);
    }
  }

  /** The server is stopping; the client can continue on another server, or later on this one. */
  record ServerStopping() implements FeedEnd {}
}
