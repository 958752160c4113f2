package lectus.database;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * All generations of a database's changes shards (RFC 018).
 *
 * @param generations those that may have entries, oldest first; the last is the current one
 * @param emptied the descriptions of the others, oldest first
 */
public record ShardTopology(
    List<Generation> generations, List<EmptiedGenerations> emptied, boolean partitioned) {
  private static final Comparator<Era> OLDEST_FIRST =
      Comparator.comparing(
          era -> era.since().orElse(null), Comparator.nullsFirst(Comparator.naturalOrder()));

  public ShardTopology {
    generations = List.copyOf(generations);
    emptied = List.copyOf(emptied);
    if (generations.isEmpty()) {
      throw new IllegalArgumentException("A database has at least one generation");
    }
  }

  /** Has no emptied generations. */
  public ShardTopology(List<Generation> generations, boolean partitioned) {
    this(generations, List.of(), partitioned);
  }

  static ShardTopology of(List<Era> eras, boolean partitioned) {
    return new ShardTopology(
        only(Generation.class, eras), only(EmptiedGenerations.class, eras), partitioned);
  }

  private static <T extends Era> List<T> only(Class<T> kind, List<Era> eras) {
    return eras.stream().filter(kind::isInstance).map(kind::cast).toList();
  }

  /** Returns all spans, oldest first and without gaps. */
  public List<Era> eras() {
    List<Era> eras = new ArrayList<>(generations);
    eras.addAll(emptied);
    eras.sort(OLDEST_FIRST);
    return eras;
  }

  public Generation current() {
    return generations.get(generations.size() - 1);
  }

  /**
   * Returns the generation to which the entry written at {@code sequence} belongs; if that
   * generation is emptied, another one without an entry there.
   */
  public Generation at(Sequence sequence) {
    return generations.get(indexAt(Optional.of(sequence)));
  }

  /**
   * Returns the generations in which a reader after {@code since} continues; all if it is empty.
   */
  public List<Generation> from(Optional<Sequence> since) {
    return generations.subList(indexAt(since), generations.size());
  }

  /** Returns the span that contains {@code since}, and later ones, oldest first. */
  public List<Era> erasFrom(Optional<Sequence> since) {
    List<Era> eras = eras();
    int first = eras.size() - 1;
    while (first > 0 && !hasBegun(eras.get(first), since)) {
      first--;
    }
    return eras.subList(first, eras.size());
  }

  private static boolean hasBegun(Era era, Optional<Sequence> at) {
    return at.isPresent() && era.since().orElseThrow().compareTo(at.get()) <= 0;
  }

  /** Returns the generation, or the emptied ones, to which a shard belongs. */
  public Optional<Era> eraOf(ShardId shard) {
    return Stream.<Era>concat(
            generations.stream().filter(it -> it.shards().contains(shard)),
            emptied.stream().filter(it -> it.has(shard)))
        .findFirst();
  }

  /**
   * Returns the first generation after a span that may have entries; empty after the current one.
   */
  public Optional<Generation> after(Era era) {
    return generations.stream().filter(it -> OLDEST_FIRST.compare(it, era) > 0).findFirst();
  }

  /** Returns the emptied generations that end where a span begins; empty if there are none. */
  public Optional<Era> emptiedBefore(Era era) {
    List<Era> eras = eras();
    int before = eras.indexOf(era) - 1;
    return before >= 0 && eras.get(before) instanceof EmptiedGenerations run
        ? Optional.of(run)
        : Optional.empty();
  }

  /** Returns the shard for a new entry of this document. */
  public ShardId shardFor(String docId) {
    return shardIn(current(), docId);
  }

  /**
   * Returns the shard of the entry written at {@code sequence}: computed, never stored (RFC 018,
   * Write Path).
   */
  public ShardId shardAt(String docId, Sequence sequence) {
    return shardIn(at(sequence), docId);
  }

  public ShardId shardIn(Generation generation, String docId) {
    return generation.shardOf(partitionKey(docId));
  }

  /** Returns this topology once {@code count} new shards have taken over at {@code since}. */
  ShardTopology resharded(Sequence since, int count) {
    List<Generation> more = new ArrayList<>(generations);
    more.set(more.size() - 1, current().asReplaced());
    more.add(new Generation(Optional.of(since), HashScheme.DEFAULT, unusedShards(count), false));
    return new ShardTopology(more, emptied, partitioned);
  }

  /** Returns the same topology once the beginning of its current generation is known. */
  ShardTopology beginningAt(Sequence since) {
    List<Generation> all = new ArrayList<>(generations);
    Generation last = current();
    all.set(
        all.size() - 1,
        new Generation(Optional.of(since), last.hash(), last.shards(), last.replaced()));
    return new ShardTopology(all, emptied, partitioned);
  }

  /**
   * Returns the same topology with consecutive empty generations merged into one description.
   *
   * @param worth a run of fewer eras keeps its separate descriptions
   */
  ShardTopology merged(Predicate<Generation> isEmpty, int worth) {
    List<Era> merged = new ArrayList<>();
    List<Era> run = new ArrayList<>();
    for (Era era : eras()) {
      if (era instanceof Generation generation && !isEmpty.test(generation)) {
        merged.addAll(run.size() < worth ? run : List.of(asOne(run)));
        run.clear();
        merged.add(era);
      } else {
        run.add(era);
      }
    }
    return of(merged, partitioned);
  }

  private static EmptiedGenerations asOne(List<Era> run) {
    return run.stream().map(ShardTopology::asEmptied).reduce(EmptiedGenerations::and).orElseThrow();
  }

  private static EmptiedGenerations asEmptied(Era era) {
    return era instanceof Generation generation
        ? EmptiedGenerations.of(generation)
        : (EmptiedGenerations) era;
  }

  /** Every shard that ever existed is in some era, so a number in none of them was never used. */
  private List<ShardId> unusedShards(int count) {
    int first =
        eras().stream()
            .map(ShardTopology::asEmptied)
            .mapToInt(EmptiedGenerations::endOfShards)
            .max()
            .orElse(0);
    return IntStream.range(first, first + count).mapToObj(ShardId::numbered).toList();
  }

  private int indexAt(Optional<Sequence> sequence) {
    for (int i = generations.size() - 1; i > 0; i--) {
      if (hasBegun(generations.get(i), sequence)) {
        return i;
      }
    }
    return 0;
  }

  private String partitionKey(String docId) {
    return partitioned ? Partition.ofDocument(docId).map(Partition::name).orElse(docId) : docId;
  }
}
