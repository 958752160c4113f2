package lectus.document.write;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.InstantSource;
import java.util.List;
import lectus.audit.testing.SoundStore;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.Sequence;
import lectus.database.ShardId;
import lectus.database.ShardTopology.Generation;
import lectus.database.testing.BeforeShards;
import lectus.document.testing.TestDatabase;
import lectus.document.write.PendingCommits.WriteResult;
import lectus.revision.RevisionId;
import lectus.store.FaultyStore;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** RFC 018, Backwards Compatibility: writing to a database from before shards. */
class BeforeShardsTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private final Store store = stores.fresh();
  private final TestDatabase old = TestDatabase.create(store);
  private TestDatabase db;
  private RevisionId first;

  private void lay(boolean withShardMap) {
    first = old.put("a", "{}");
    old.put("b", "{}");
    old.put("c", "{}");
    DatabaseHandle handle = old.catalogue.open(old.name);
    BeforeShards.lay(old.transactions, handle);
    if (withShardMap) {
      BeforeShards.layShardMap(old.transactions, handle);
    }
    db = TestDatabase.open(store, "db");
    db.audit(3);
    assertThat(topology()).extracting(Generation::isDeprecated).containsExactly(true);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void the_first_write_gives_it_its_first_shard(boolean withShardMap) {
    lay(withShardMap);
    List<Sequence> before = sequences();

    db.put("a", first, "{\"v\":2}");

    assertThat(topology()).extracting(Generation::isDeprecated).containsExactly(true, false);
    assertThat(topology()).extracting(Generation::replaced).containsExactly(true, false);
    assertThat(topology().get(1).shards()).containsExactly(new ShardId("0"));
    Sequence since = topology().get(1).since().orElseThrow();
    assertThat(before).allMatch(sequence -> sequence.compareTo(since) < 0);
    assertThat(db.winner("a").winner().sequence()).isGreaterThanOrEqualTo(since);
    assertThat(entriesInDeprecatedSubspace()).isEqualTo(2);
    db.audit(3);
  }

  @Test
  void updates_take_the_entries_out_of_the_deprecated_subspace() {
    lay(true);
    for (String id : List.of("a", "b", "c")) {
      db.put(id, db.winner(id).leaf(), "{\"v\":2}");
    }
    db.put("d", "{}");

    assertThat(entriesInDeprecatedSubspace()).isZero();
    assertThat(db.changes()).extracting(it -> it.docId()).containsExactly("a", "b", "c", "d");
    assertThat(topology()).hasSize(2);
    db.audit(4);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void of_two_servers_that_write_first_one_lays_the_shard(boolean withShardMap) {
    lay(withShardMap);
    FaultyStore network = new FaultyStore(store);
    Catalogue there = new Catalogue(network.store(), db.transactions, InstantSource.system());
    DocumentWriter writer = new DocumentWriter(network.store(), there);
    int commitsBefore = network.commits();
    network.beforeNextCommit(() -> db.put("d", "{}"));

    WriteResult result = writer.write(db.name, List.of(TestDatabase.edit("e", null, "{}")));

    assertThat(result.outcomes()).noneMatch(EditOutcome.Failed.class::isInstance);
    assertThat(network.commits()).isEqualTo(commitsBefore + 2);
    assertThat(topology()).hasSize(2);
    assertThat(db.changes()).hasSize(5);
    db.audit(5);
  }

  @Test
  void it_is_resharded_before_anything_is_written() {
    lay(false);

    db.catalogue.reshard(db.name, 4);
    db.put("a", first, "{\"v\":2}");

    assertThat(topology()).extracting(it -> it.shards().size()).containsExactly(1, 4);
    assertThat(entriesInDeprecatedSubspace()).isEqualTo(2);
    db.audit(3);
  }

  private List<Generation> topology() {
    return db.catalogue.open(db.name).topology().generations();
  }

  private List<Sequence> sequences() {
    return db.changes().stream().map(it -> it.sequence()).toList();
  }

  private int entriesInDeprecatedSubspace() {
    DatabaseHandle handle = db.catalogue.open(db.name);
    return db.transactions.run(tx -> BeforeShards.entries(tx, handle));
  }
}
