package lectus.database;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import lectus.database.ShardTopology.Generation;
import lectus.database.ShardTopology.HashScheme;
import org.junit.jupiter.api.Test;

final class ShardTopologyTest {
  private static final Sequence FIFTY = sequence(50);

  private final ShardTopology resharded =
      new ShardTopology(
          List.of(
              generation(Optional.empty(), true, "0"),
              generation(Optional.of(FIFTY), false, "1", "2", "3", "4")),
          false);

  @Test
  void an_old_entry_lies_where_its_own_generation_put_it() {
    assertThat(resharded.shardAt("some-id", sequence(49))).isEqualTo(new ShardId("0"));
    assertThat(resharded.shardAt("some-id", FIFTY))
        .isEqualTo(resharded.shardIn(resharded.current(), "some-id"));
    assertThat(resharded.shardAt("some-id", sequence(51)))
        .isEqualTo(resharded.shardIn(resharded.current(), "some-id"));
  }

  @Test
  void each_generation_resolves_by_its_own_scheme() {
    ShardTopology mixed =
        new ShardTopology(
            List.of(
                Generation.UNSHARDED.asReplaced(), generation(Optional.of(FIFTY), false, "0", "1")),
            false);
    for (int number = 0; number < 100; number++) {
      String id = "document-" + number;
      assertThat(mixed.shardAt(id, sequence(49))).isEqualTo(ShardId.DEPRECATED);
      assertThat(mixed.shardAt(id, sequence(50)).text())
          .isEqualTo(Integer.toString(HashScheme.JUMP_CRC32.shardOf(id, 2)));
    }
    for (HashScheme scheme : HashScheme.values()) {
      assertThat(HashScheme.numbered(scheme.number())).isEqualTo(scheme);
    }
  }

  @Test
  void a_reader_goes_on_in_the_generation_of_its_sequence() {
    List<Generation> generations = resharded.generations();
    assertThat(resharded.from(Optional.empty())).isEqualTo(generations);
    assertThat(resharded.from(Optional.of(sequence(49)))).isEqualTo(generations);
    assertThat(resharded.from(Optional.of(FIFTY))).isEqualTo(generations.subList(1, 2));
    assertThat(resharded.from(Optional.of(sequence(51)))).isEqualTo(generations.subList(1, 2));
    assertThat(resharded.eraOf(new ShardId("3"))).contains(generations.get(1));
    assertThat(resharded.eraOf(new ShardId("5"))).isEmpty();
    assertThat(resharded.after(generations.get(0))).contains(generations.get(1));
    assertThat(resharded.after(generations.get(1))).isEmpty();
  }

  @Test
  void documents_spread_over_the_shards() {
    int[] counts = new int[4];
    IntStream.range(0, 10_000)
        .mapToObj(number -> resharded.shardIn(resharded.current(), "document-" + number))
        .forEach(shard -> counts[Integer.parseInt(shard.text()) - 1]++);
    assertThat(Arrays.stream(counts)).allMatch(count -> count > 2_000 && count < 3_000);
  }

  @Test
  void the_hash_is_consistent_so_another_shard_takes_only_its_share() {
    long moved =
        IntStream.range(0, 10_000)
            .mapToObj(number -> "document-" + number)
            .filter(
                id -> HashScheme.JUMP_CRC32.shardOf(id, 4) != HashScheme.JUMP_CRC32.shardOf(id, 5))
            .peek(id -> assertThat(HashScheme.JUMP_CRC32.shardOf(id, 5)).isEqualTo(4))
            .count();
    assertThat(moved).isBetween(1_500L, 2_500L);
  }

  @Test
  void a_partition_lies_in_one_shard() {
    ShardTopology partitioned =
        new ShardTopology(List.of(generation(Optional.empty(), false, "0", "1", "2", "3")), true);
    assertThat(
            IntStream.range(0, 100)
                .mapToObj(n -> partitioned.shardIn(partitioned.current(), "sensor-7:" + n)))
        .containsOnly(partitioned.shardIn(partitioned.current(), "sensor-7:"));
  }

  /** Data was routed by these numbers, so they may never change. */
  @Test
  void the_scheme_routes_as_it_always_did() {
    assertThat(
            List.of("", "a", "mydoc", "\u00fc:1", "document-4711").stream()
                .map(id -> HashScheme.JUMP_CRC32.shardOf(id, 16))
                .toList())
        .isEqualTo(ROUTES);
  }

  private static final List<Integer> ROUTES = List.of(0, 14, 14, 7, 11);

  private static Generation generation(Optional<Sequence> since, boolean replaced, String... ids) {
    List<ShardId> shards = Arrays.stream(ids).map(ShardId::new).toList();
    return new Generation(since, HashScheme.JUMP_CRC32, shards, replaced);
  }

  private static Sequence sequence(int version) {
    return Sequence.of(0, new byte[] {0, 0, 0, 0, 0, 0, 0, (byte) version, 0, 0}, 0);
  }
}
