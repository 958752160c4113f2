package lectus.changes.page;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import lectus.database.Sequence;
import lectus.database.ShardId;
import lectus.database.ShardTopology;
import lectus.database.ShardTopology.Era;
import lectus.database.ShardTopology.Generation;
import lectus.error.LectusException;

/**
 * The part of the changes index that a feed reads, as of one topology: all of it, or one shard.
 *
 * @param shard the only one; empty: all
 * @param itsEra the span to which it belongs
 */
record FeedExtent(ShardTopology topology, Optional<ShardId> shard, Optional<Era> itsEra) {
  /**
   * @param shard empty for the whole database
   * @throws LectusException {@code not_found} if there never was such a shard
   */
  static FeedExtent of(ShardTopology topology, Optional<ShardId> shard) {
    Optional<Era> itsEra = shard.flatMap(topology::eraOf);
    if (shard.isPresent() && itsEra.isEmpty()) {
      throw LectusException.notFound("There is no such changes shard.");
    }
    return new FeedExtent(topology, shard, itsEra);
  }

  static FeedExtent whole(ShardTopology topology) {
    return of(topology, Optional.empty());
  }

  /** Returns the generations with entries after {@code after}, oldest first; all if it is empty. */
  List<Generation> from(Optional<Sequence> after) {
    return itsEra.isPresent() ? ofItsEra() : topology.from(after);
  }

  /** Returns the single shard's generations; none if it was emptied. */
  private List<Generation> ofItsEra() {
    return itsEra.orElseThrow() instanceof Generation one ? List.of(one) : List.of();
  }

  /** Returns the generations with entries up to {@code until}, newest first; all if it is empty. */
  List<Generation> downFrom(Optional<Sequence> until) {
    List<Generation> generations =
        new ArrayList<>(itsEra.isPresent() ? ofItsEra() : topology.generations());
    generations.removeIf(it -> until.isPresent() && begins(it, until.get()) > 0);
    Collections.reverse(generations);
    return generations;
  }

  private static int begins(Generation generation, Sequence other) {
    return generation.since().map(since -> since.compareTo(other)).orElse(-1);
  }

  List<ShardId> shardsOf(Generation generation) {
    return shard.map(List::of).orElseGet(generation::shards);
  }

  boolean includes(String docId, Sequence sequence) {
    return shard.isEmpty() || shard.get().equals(topology.shardAt(docId, sequence));
  }

  /**
   * Whether it includes the place where a document has left a stored feed. Nothing tells any more
   * which documents a shard of emptied generations had, so each includes all of their time. So do
   * the shards of the generations before and after: their readers come or go on there.
   */
  boolean includesDeparture(String docId, Sequence sequence) {
    if (shard.isEmpty()) {
      return true;
    }
    Era era = itsEra.orElseThrow();
    Optional<Sequence> first = topology.emptiedBefore(era).orElse(era).since();
    Optional<Sequence> behind = successor().flatMap(Generation::since);
    return first.filter(it -> it.compareTo(sequence) > 0).isEmpty()
        && behind.filter(it -> it.compareTo(sequence) <= 0).isEmpty()
        && !(era instanceof Generation one && !topology.shardIn(one, docId).equals(shard.get()));
  }

  /** Returns the generation that replaced the single shard's. */
  private Optional<Generation> successor() {
    return itsEra.flatMap(topology::after);
  }

  /** Whether it is a single shard that takes no more changes. */
  boolean isReplaced() {
    return successor().isPresent();
  }

  /** Whether it is a single shard that takes changes together with others. */
  boolean isOneOfSeveral() {
    return shard.isPresent() && !isReplaced() && topology.current().shards().size() > 1;
  }

  /**
   * Returns the lowest position of a reader that has read everything; empty if the database was
   * never resharded.
   */
  Optional<Sequence> end() {
    Generation last = successor().orElseGet(topology::current);
    return last.since();
  }

  /**
   * Tells a reader of the whole single shard that it was replaced, and in which generation to
   * continue: the next one, unless the reader is already further.
   */
  Optional<FeedEnd> resharded(FeedPosition position) {
    return successor()
        .map(next -> isBehind(position, next) ? topology.at(position.sequence().get()) : next)
        .map(
            next ->
                new FeedEnd.Resharded(position.movedTo(next.since().orElseThrow()), next.shards()));
  }

  private static boolean isBehind(FeedPosition position, Generation generation) {
    return position.sequence().isPresent() && begins(generation, position.sequence().get()) < 0;
  }
}
