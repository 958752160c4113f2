package lectus.database;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import lectus.database.ShardTopology.Generation;
import lectus.database.ShardTopology.HashScheme;
import lectus.database.testing.BeforeShards;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.json.MalformedTupleException.NewerFormatException;
import lectus.json.TupleWriter;
import lectus.store.Awaiting;
import lectus.store.FaultyStore;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** RFC 018, Metadata and Resharding: what is stored, and who learns of it. */
final class ReshardingTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private static final DatabaseName NAME = DatabaseName.of("db");

  private final Store store = stores.fresh();
  private final FaultyStore network = new FaultyStore(store);

  private final TransactionRunner transactions =
      new TransactionRunner(store, TransactionLimits.DEFAULT);
  private final Catalogue here = new Catalogue(store, transactions, InstantSource.system());

  private final Catalogue there =
      new Catalogue(
          network.store(),
          new TransactionRunner(network.store(), TransactionLimits.DEFAULT),
          InstantSource.system());
  private static final Sequence FIFTY = sequence(50);

  private final ShardTopology resharded =
      new ShardTopology(
          List.of(
              generation(Optional.empty(), true, "0"),
              generation(Optional.of(FIFTY), false, "1", "2", "3", "4")),
          false);

  private static final List<Integer> ROUTES = List.of(0, 14, 14, 7, 11);

  @Test
  void each_generation_has_an_entry_under_its_first_sequence_and_its_predecessor_a_tombstone() {
    here.create(NAME, CreationOptions.DEFAULT);

    Sequence four = since(here.reshard(NAME, 4));
    Sequence one = since(here.reshard(NAME, 1));

    assertThat(four).isLessThan(one);
    assertThat(shardMaps())
        .containsExactly(
            entry(new TupleWriter(8).integer(0), map(true, "0")),
            entry(sequence(four), map(true, "1", "2", "3", "4")),
            entry(sequence(one), map(false, "5")));
  }

  @Test
  void emptied_generations_that_follow_each_other_are_one_entry() {
    here.create(NAME, CreationOptions.DEFAULT);
    there.open(NAME);
    here.reshard(NAME, 2);
    Sequence third = since(here.reshard(NAME, 1));
    Sequence fourth = since(here.reshard(NAME, 5));

    assertThat(shardMaps())
        .containsExactly(
            entry(
                new TupleWriter(8).integer(0),
                new TupleWriter(8).integer(1).integer(2).bool(false).integer(0).integer(3)),
            entry(sequence(third), map(true, "3")),
            entry(sequence(fourth), map(false, "4", "5", "6", "7", "8")));
    assertThat(there.open(NAME).topology()).isEqualTo(here.open(NAME).topology());
  }

  @Test
  void a_server_learns_of_it_although_the_entry_that_it_knows_is_gone() {
    here.create(NAME, CreationOptions.DEFAULT);
    here.reshard(NAME, 2);
    there.open(NAME);
    for (int i = 0; i < 5; i++) {
      here.reshard(NAME, 1);
    }
    assertThat(there.open(NAME).topology()).isEqualTo(here.open(NAME).topology());
  }

  @Test
  void shard_ids_are_never_used_again() {
    here.create(NAME, new CreationOptions(false, 3));
    List<ShardId> all = new ArrayList<>(here.open(NAME).topology().current().shards());
    for (int shards : new int[] {1, 4, 1, 12, 3}) {
      all.addAll(here.reshard(NAME, shards).topology().current().shards());
    }
    assertThat(all).hasSize(3 + 1 + 4 + 1 + 12 + 3).doesNotHaveDuplicates();
    assertThat(all).allMatch(shard -> here.open(NAME).topology().eraOf(shard).isPresent());
  }

  @Test
  void what_is_told_is_what_other_servers_find() {
    here.create(NAME, CreationOptions.DEFAULT);
    assertThat(there.open(NAME).topology().generations()).hasSize(1);

    DatabaseHandle told = here.reshard(NAME, 7);

    assertThat(there.open(NAME).topology()).isEqualTo(told.topology());
    assertThat(here.open(NAME).topology()).isEqualTo(told.topology());
    assertThat(told.topology().current().shards()).hasSize(7);
    assertThat(told.topology().generations().get(0).replaced()).isTrue();
    assertThat(told.topology().current().replaced()).isFalse();
  }

  @Test
  void a_server_that_looks_at_many_databases_at_once_learns_of_it() {
    here.create(NAME, CreationOptions.DEFAULT);
    here.create(DatabaseName.of("other"), CreationOptions.DEFAULT);
    List<DatabaseName> names = List.of(DatabaseName.of("other"), NAME);
    List<Optional<DatabaseHandle>> before = transactions.read(tx -> there.currentAll(tx, names));
    assertThat(before).doesNotContain(Optional.empty());
    DatabaseHandle told = here.reshard(NAME, 7);
    List<Optional<DatabaseHandle>> after = transactions.read(tx -> there.currentAll(tx, names));
    assertThat(after.get(1).orElseThrow().topology()).isEqualTo(told.topology());
    assertThat(there.open(NAME).topology()).isEqualTo(told.topology());
  }

  @Test
  void a_reshard_that_is_overtaken_by_another_follows_it() {
    here.create(NAME, CreationOptions.DEFAULT);
    network.beforeNextCommit(() -> here.reshard(NAME, 2));

    there.reshard(NAME, 3);

    List<Generation> generations = here.open(NAME).topology().generations();
    assertThat(generations).extracting(it -> it.shards().size()).containsExactly(1, 2, 3);
    assertThat(generations).extracting(Generation::replaced).containsExactly(true, true, false);
    assertThat(there.open(NAME).topology().generations()).isEqualTo(generations);
  }

  @Test
  void shards_number_1_to_1024() {
    here.create(NAME, CreationOptions.DEFAULT);
    for (int shards : new int[] {Integer.MIN_VALUE, 0, 1025}) {
      assertThat(errorOf(() -> here.reshard(NAME, shards)))
          .isInstanceOf(LectusError.BadRequest.class);
    }
    assertThat(here.open(NAME).topology().generations()).hasSize(1);
    assertThat(here.reshard(NAME, 1024).topology().current().shards()).hasSize(1024);
    assertThat(here.reshard(NAME, 1).topology().current().shards())
        .containsExactly(new ShardId("1025"));
  }

  @Test
  void a_database_that_is_not_there_is_not_found() {
    assertThat(errorOf(() -> here.reshard(NAME, 2))).isInstanceOf(LectusError.NotFound.class);
    here.create(NAME, CreationOptions.DEFAULT);
    network.beforeNextCommit(() -> here.delete(NAME));
    assertThat(errorOf(() -> there.reshard(NAME, 2))).isInstanceOf(LectusError.NotFound.class);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void a_database_from_before_shards_is_resharded(boolean withShardMap) {
    DatabaseHandle db = here.create(NAME, CreationOptions.DEFAULT);
    BeforeShards.lay(transactions, db);
    if (withShardMap) {
      BeforeShards.layShardMap(transactions, db);
    }
    assertThat(there.open(NAME).topology().generations()).containsExactly(Generation.UNSHARDED);

    Sequence since = since(there.reshard(NAME, 2));

    assertThat(shardMaps())
        .containsExactly(
            entry(
                new TupleWriter(8).integer(0), new TupleWriter(8).integer(1).integer(0).bool(true)),
            entry(sequence(since), map(false, "0", "1")));
    assertThat(there.open(NAME).topology().generations())
        .extracting(Generation::hash)
        .containsExactly(HashScheme.UNSHARDED, HashScheme.JUMP_CRC32);
  }

  @Test
  void a_scheme_that_this_server_does_not_know_is_refused() {
    DatabaseHandle db = here.create(NAME, CreationOptions.DEFAULT);
    transactions.run(
        tx -> {
          byte[] value =
              new TupleWriter(8)
                  .integer(1)
                  .integer(1)
                  .integer(99)
                  .string("0")
                  .bool(false)
                  .toBytes();
          tx.set(db.shardMapKey(), value);
          return null;
        });
    assertThatThrownBy(() -> there.open(NAME)).isInstanceOf(NewerFormatException.class);
  }

  private static Sequence since(DatabaseHandle db) {
    return db.topology().current().since().orElseThrow();
  }

  private static TupleWriter sequence(Sequence sequence) {
    TupleWriter tuple = new TupleWriter(32);
    sequence.writeTo(tuple);
    return tuple;
  }

  private static TupleWriter map(boolean replaced, String... shards) {
    TupleWriter value = new TupleWriter(32).integer(1).integer(1).integer(1);
    Arrays.stream(shards).forEach(value::string);
    return value.bool(replaced);
  }

  private static Map.Entry<String, String> entry(TupleWriter key, TupleWriter value) {
    return Map.entry(hex(key.toBytes()), hex(value.toBytes()));
  }

  /** In key order, without the common prefix. */
  private List<Map.Entry<String, String>> shardMaps() {
    byte[] prefix =
        DatabaseSubspace.CONFIG.key(here.open(NAME).prefix()).string("changes_shards").toBytes();
    List<KeyValue> rows =
        transactions.read(tx -> Awaiting.await(tx.getRange(Range.startsWith(prefix)).asList()));
    List<Map.Entry<String, String>> maps = new ArrayList<>();
    for (KeyValue row : rows) {
      byte[] key = Arrays.copyOfRange(row.getKey(), prefix.length, row.getKey().length);
      maps.add(Map.entry(hex(key), hex(row.getValue())));
    }
    return maps;
  }

  private static String hex(byte[] bytes) {
    return HexFormat.of().formatHex(bytes);
  }

  private static LectusError errorOf(Runnable action) {
    try {
      action.run();
    } catch (LectusException e) {
      return e.error();
    }
    return null;
  }

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

  private static Generation generation(Optional<Sequence> since, boolean replaced, String... ids) {
    List<ShardId> shards = Arrays.stream(ids).map(ShardId::new).toList();
    return new Generation(since, HashScheme.JUMP_CRC32, shards, replaced);
  }

  private static Sequence sequence(int version) {
    return Sequence.of(0, new byte[] {0, 0, 0, 0, 0, 0, 0, (byte) version, 0, 0}, 0);
  }
}
