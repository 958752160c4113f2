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
 * @param generations those that may have entries, oldest first; the last one is the current one
 * @param emptied what is known of the others, oldest first
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

  /** Without emptied generations. */
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

  /** All that is known, oldest first and without gaps. */
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
   * The generation that the entry written at {@code sequence} belongs to; where there are no
   * entries any more, one that has none there either.
   */
  public Generation at(Sequence sequence) {
    return generations.get(indexAt(Optional.of(sequence)));
  }

  /** The generations in which a reader behind {@code since} goes on; all if it is empty. */
  public List<Generation> from(Optional<Sequence> since) {
    return generations.subList(indexAt(since), generations.size());
  }

  /** What a reader behind {@code since} is in, and what follows, oldest first. */
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

  /** The generation, or the emptied ones, that a shard belongs to. */
  public Optional<Era> eraOf(ShardId shard) {
    return Stream.<Era>concat(
            generations.stream().filter(it -> it.shards().contains(shard)),
            emptied.stream().filter(it -> it.has(shard)))
        .findFirst();
  }

  /**
   * The first generation behind others in which there may be entries; empty behind the current one.
   */
  public Optional<Generation> after(Era era) {
    return generations.stream().filter(it -> OLDEST_FIRST.compare(it, era) > 0).findFirst();
  }

  /** Where a new entry of this document goes. */
  public ShardId shardFor(String docId) {
    return shardIn(current(), docId);
  }

  /**
   * Where the entry that was written at {@code sequence} lies: computed, never stored (RFC 018,
   * Write Path).
   */
  public ShardId shardAt(String docId, Sequence sequence) {
    return shardIn(at(sequence), docId);
  }

  public ShardId shardIn(Generation generation, String docId) {
    return generation.shardOf(partitionKey(docId));
  }

  /** This topology once {@code count} new shards have taken over at {@code since}. */
  ShardTopology resharded(Sequence since, int count) {
    List<Generation> more = new ArrayList<>(generations);
    more.set(more.size() - 1, current().asReplaced());
    more.add(new Generation(Optional.of(since), HashScheme.DEFAULT, unusedShards(count), false));
    return new ShardTopology(more, emptied, partitioned);
  }

  /** The same once it is known where its current generation begins. */
  ShardTopology beginningAt(Sequence since) {
    List<Generation> all = new ArrayList<>(generations);
    Generation last = current();
    all.set(
        all.size() - 1,
        new Generation(Optional.of(since), last.hash(), last.shards(), last.replaced()));
    return new ShardTopology(all, emptied, partitioned);
  }

  /**
   * The same with one description for generations that are empty and follow each other.
   *
   * @param worth of fewer than so many eras their own descriptions stay
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

  /** Every shard there ever was is in some era, so what is in none of them was never used. */
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
