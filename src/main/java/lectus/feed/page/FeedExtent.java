package lectus.feed.page;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import lectus.database.Generation;
import lectus.database.Sequence;
import lectus.database.ShardId;
import lectus.database.ShardTopology;
import lectus.error.LectusException;
import lectus.feed.FeedEnd;

/** What part of the changes index a feed is of, as of one topology: all of it, or one shard. */
final class FeedExtent {
  private final ShardTopology topology;
  private final Optional<ShardId> only;
  private final Optional<Generation> itsGeneration;

  private FeedExtent(
      ShardTopology topology, Optional<ShardId> only, Optional<Generation> itsGeneration) {
    this.topology = topology;
    this.only = only;
    this.itsGeneration = itsGeneration;
  }

  /**
   * @param shard empty for the whole database
   * @throws LectusException {@code not_found} if there never was such a shard
   */
  static FeedExtent of(ShardTopology topology, Optional<ShardId> shard) {
    Optional<Generation> itsGeneration = shard.flatMap(topology::of);
    if (shard.isPresent() && itsGeneration.isEmpty()) {
      throw LectusException.notFound("There is no such changes shard.");
    }
    return new FeedExtent(topology, shard, itsGeneration);
  }

  static FeedExtent whole(ShardTopology topology) {
    return of(topology, Optional.empty());
  }

  Optional<ShardId> shard() {
    return only;
  }

  /** The generations with entries behind {@code after}, oldest first; all if it is empty. */
  List<Generation> from(Optional<Sequence> after) {
    return itsGeneration.map(List::of).orElseGet(() -> topology.from(after));
  }

  /** The generations with entries up to {@code until}, newest first; all if it is empty. */
  List<Generation> downFrom(Optional<Sequence> until) {
    List<Generation> generations =
        new ArrayList<>(itsGeneration.map(List::of).orElseGet(topology::generations));
    generations.removeIf(it -> until.isPresent() && begins(it, until.get()) > 0);
    Collections.reverse(generations);
    return generations;
  }

  private static int begins(Generation generation, Sequence other) {
    return generation.since().map(since -> since.compareTo(other)).orElse(-1);
  }

  /** The shards to be read of one of its generations. */
  List<ShardId> shardsOf(Generation generation) {
    return only.map(List::of).orElseGet(generation::shards);
  }

  /** Whether the entry that a document has at a sequence belongs to it. */
  boolean includes(String docId, Sequence sequence) {
    return only.isEmpty() || only.get().equals(topology.shardAt(docId, sequence));
  }

  /** The generation that took over from the one shard this is of. */
  private Optional<Generation> successor() {
    return itsGeneration.flatMap(topology::after);
  }

  /** Whether it is of one shard that takes no changes any more. */
  boolean isReplaced() {
    return successor().isPresent();
  }

  /** Where somebody who has read everything is at least; empty if nothing was ever resharded. */
  Optional<Sequence> end() {
    Generation last = successor().or(() -> itsGeneration).orElseGet(topology::current);
    return last.since();
  }

  /**
   * That the one shard this is of has been replaced, for a reader who has read all of it, and the
   * generation in which such a reader goes on: the next one, unless it is further on already.
   */
  Optional<FeedEnd> resharded(FeedPosition position) {
    return successor()
        .map(next -> isBehind(position, next) ? topology.at(position.sequence().get()) : next)
        .map(next -> new FeedEnd.Resharded(next.since().orElseThrow(), next.shards()));
  }

  private static boolean isBehind(FeedPosition position, Generation generation) {
    return position.sequence().isPresent() && begins(generation, position.sequence().get()) < 0;
  }
}
