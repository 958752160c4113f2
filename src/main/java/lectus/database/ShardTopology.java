package lectus.database;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import lectus.database.ShardTopology.EmptiedGenerations;
import lectus.database.ShardTopology.Generation;
import lectus.json.StoredFormat;

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

  /**
   * One shard map: the shards that take the changes from {@code since} (RFC 018, Metadata).
   *
   * @param since the first sequence at which this map is active; empty for the first, active from 0
   * @param hash how a partition key chooses its shard
   * @param shards in the order in which the hash counts them, at least one
   * @param replaced the tombstone: a later generation has taken over
   */
  public record Generation(
      Optional<Sequence> since, HashScheme hash, List<ShardId> shards, boolean replaced)
      implements Era {
    /** The changes of a database from before shards, which lie in their own subspace. */
    static final Generation UNSHARDED =
        new Generation(Optional.empty(), HashScheme.UNSHARDED, List.of(ShardId.DEPRECATED), false);

    public Generation {
      shards = List.copyOf(shards);
      if (shards.isEmpty()) {
        throw new IllegalArgumentException("A generation has at least one shard");
      }
    }

    /**
     * Whether the changes lie in the subspace without shards (RFC 018, Backwards Compatibility).
     */
    public boolean isDeprecated() {
      return hash == HashScheme.UNSHARDED;
    }

    /** Returns the shard that takes the document's changes while this generation is active. */
    public ShardId shardOf(String partitionKey) {
      return shards.get(hash.shardOf(partitionKey, shards.size()));
    }

    boolean hasAnyOf(Set<ShardId> some) {
      return shards.stream().anyMatch(some::contains);
    }

    /** Returns the same generation with its tombstone. */
    Generation asReplaced() {
      return new Generation(since, hash, shards, true);
    }
  }

  /**
   * Consecutive generations that have no entries left, because every document written in them was
   * written again later. They take no more changes, so they stay empty. Only their shards have to
   * be known: the ids are never reused, and readers of these shards are told where to continue.
   *
   * @param since the first sequence of the first of them; empty if that is 0
   * @param deprecated whether one of them holds the changes from before shards
   * @param firstShard the lowest shard number
   * @param shards number of shards, numbered consecutively
   */
  public record EmptiedGenerations(
      Optional<Sequence> since, boolean deprecated, int firstShard, int shards) implements Era {

    public boolean has(ShardId shard) {
      if (shard.isDeprecated()) {
        return deprecated;
      }
      return shard.number().stream().anyMatch(it -> it >= firstShard && it < endOfShards());
    }

    /** Returns the first shard number after theirs. */
    int endOfShards() {
      return firstShard + shards;
    }

    /** Returns one description of these generations and the next ones. */
    EmptiedGenerations and(EmptiedGenerations next) {
      boolean none = shards == 0;
      return new EmptiedGenerations(
          since,
          deprecated || next.deprecated,
          none ? next.firstShard : firstShard,
          shards + next.shards);
    }

    /** Describes a generation without entries. */
    static EmptiedGenerations of(Generation generation) {
      if (generation.isDeprecated()) {
        return new EmptiedGenerations(generation.since(), true, 0, 0);
      }
      int first = generation.shards().get(0).number().orElseThrow();
      return new EmptiedGenerations(generation.since(), false, first, generation.shards().size());
    }
  }

  /** A span of a database's order of changes, from its first sequence to that of the next span. */
  public sealed interface Era permits Generation, EmptiedGenerations {
    /** Returns the first sequence of the span; empty for the first span, which begins at 0. */
    Optional<Sequence> since();
  }

  /**
   * How a partition key chooses among the shards of a generation (RFC 018, Routing). The number is
   * stored with each generation and the name is shown to clients, so a scheme never changes once
   * data was routed by it. A new scheme gets a new number, and old generations keep theirs.
   */
  public enum HashScheme {
    /** No choice: the changes of a database from before shards. */
    UNSHARDED(0, "unsharded") {
      @Override
      public int shardOf(String partitionKey, int shards) {
        return 0;
      }
    },

    /** Jump consistent hash over the CRC-32 of the partition key's UTF-8 bytes. */
    JUMP_CRC32(1, "jump-crc32") {
      @Override
      public int shardOf(String partitionKey, int shards) {
        if (shards == 1) {
          return 0;
        }
        CRC32 crc = new CRC32();
        crc.update(partitionKey.getBytes(StandardCharsets.UTF_8));
        return jump(crc.getValue(), shards);
      }
    };

    /** The scheme of new generations. */
    static final HashScheme DEFAULT = JUMP_CRC32;

    /** Of the linear congruential generator in the paper on jump consistent hashes. */
    private static final long JUMP_MULTIPLIER = 2_862_933_555_777_941_757L;

    private final int number;
    private final String text;

    HashScheme(int number, String text) {
      this.number = number;
      this.text = text;
    }

    /** Returns the index of the shard, 0 to {@code shards} - 1. */
    public abstract int shardOf(String partitionKey, int shards);

    /** Returns the name shown to clients. */
    public String text() {
      return text;
    }

    int number() {
      return number;
    }

    /**
     * @throws lectus.json.MalformedTupleException.NewerFormatException if this server does not know
     *     the scheme
     */
    static HashScheme numbered(int number) {
      for (HashScheme scheme : values()) {
        if (scheme.number == number) {
          return scheme;
        }
      }
      throw StoredFormat.newer("A hash scheme", number, values().length - 1);
    }

    /** Lamping and Veach, "A Fast, Minimal Memory, Consistent Hash Algorithm". */
    private static int jump(long key, int buckets) {
      long bucket = -1;
      long next = 0;
      long state = key;
      while (next < buckets) {
        bucket = next;
        state = state * JUMP_MULTIPLIER + 1;
        next = (long) ((bucket + 1) * ((double) (1L << 31) / (double) ((state >>> 33) + 1)));
      }
      return (int) bucket;
    }
  }
}
