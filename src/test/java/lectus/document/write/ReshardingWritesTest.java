package lectus.document.write;

import static lectus.document.testing.TestDatabase.edit;
import static lectus.document.testing.TestDatabase.written;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import lectus.audit.StoreAudit;
import lectus.audit.StoreAudit.AuditListener;
import lectus.audit.testing.SoundStore;
import lectus.changes.log.ChangesSubspace.ChangeEntry;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.Sequence;
import lectus.database.ShardId;
import lectus.database.ShardTopology;
import lectus.database.ShardTopology.Generation;
import lectus.database.testing.BeforeShards;
import lectus.document.edit.Edit;
import lectus.document.testing.TestDatabase;
import lectus.document.write.PendingCommits.WriteResult;
import lectus.revision.RevisionId;
import lectus.store.FaultyStore;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * RFC 018, Write Path: no entry is committed to a replaced shard, and nothing is lost or
 * duplicated. The interleavings are forced: one server commits between another's last read and its
 * commit.
 */
class ReshardingWritesTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private final Store store = stores.fresh();
  private final TestDatabase db = TestDatabase.create(store);
  private final FaultyStore network = new FaultyStore(store);
  private final int commitsOfOpening = network.commits();

  private final Catalogue there =
      new Catalogue(
          network.store(),
          new TransactionRunner(network.store(), TransactionLimits.DEFAULT),
          InstantSource.system());
  private final DocumentWriter writer = new DocumentWriter(network.store(), there);

  @Test
  void an_insert_that_a_reshard_overtakes_goes_to_the_new_shard() {
    warm();
    network.beforeNextCommit(() -> db.catalogue.reshard(db.name, 4));

    assertThat(writer.write(db.name, List.of(edit("a", null, "{}"))).outcomes())
        .noneMatch(EditOutcome.Failed.class::isInstance);

    assertThat(commits()).isEqualTo(2);
    assertThat(db.changes()).hasSize(2);
    assertThat(sequence("a")).isGreaterThan(since(1));
    db.audit(2);
  }

  @Test
  void an_update_that_a_reshard_overtakes_moves_the_entry_to_the_new_shard() {
    RevisionId first = warm();
    network.beforeNextCommit(() -> db.catalogue.reshard(db.name, 3));

    WriteResult result = writer.write(db.name, List.of(edit("warm", first, "{}")));

    assertThat(result.outcomes()).noneMatch(EditOutcome.Failed.class::isInstance);
    assertThat(result.last()).contains(sequence("warm"));
    assertThat(sequence("warm")).isGreaterThan(since(1));
    assertThat(db.changes()).hasSize(1);
    db.audit(1);
  }

  @Test
  void a_write_that_loses_to_one_reshard_after_the_other_ends_in_the_last() {
    warm();
    network.beforeNextCommit(
        () -> {
          db.catalogue.reshard(db.name, 4);
          network.beforeNextCommit(() -> db.catalogue.reshard(db.name, 2));
        });

    assertThat(writer.write(db.name, List.of(edit("a", null, "{}"))).outcomes())
        .noneMatch(EditOutcome.Failed.class::isInstance);

    assertThat(commits()).isEqualTo(3);
    assertThat(sequence("a")).isGreaterThan(since(2));
    db.audit(2);
  }

  @Test
  void batches_and_atomic_requests_move_whole() {
    warm();
    List<Edit> inserts = inserts("batch", 50);
    List<Edit> atomic = inserts("atomic", 50);
    network.beforeNextCommit(() -> db.catalogue.reshard(db.name, 16));
    assertThat(writer.write(db.name, inserts).outcomes())
        .noneMatch(EditOutcome.Failed.class::isInstance);
    network.beforeNextCommit(() -> db.catalogue.reshard(db.name, 5));
    assertThat(writer.writeAtomically(db.name, atomic).outcomes())
        .noneMatch(EditOutcome.Failed.class::isInstance);

    for (ChangeEntry entry : db.changes()) {
      int generation =
          entry.docId().startsWith("atomic") ? 2 : entry.docId().startsWith("batch") ? 1 : 0;
      assertThat(topology().at(entry.sequence())).isEqualTo(generation(generation));
    }
    db.audit(101);
  }

  @Test
  void a_reshard_that_a_write_overtakes_begins_behind_it() {
    warm();
    network.beforeNextCommit(() -> db.put("a", "{}"));

    DatabaseHandle resharded = there.reshard(db.name, 4);

    assertThat(commits()).isEqualTo(1);
    assertThat(sequence("a")).isLessThan(since(1));
    assertThat(resharded.topology()).isEqualTo(topology());
    db.put("a", db.winner("a").leaf(), "{}");
    assertThat(sequence("a")).isGreaterThan(since(1));
    db.audit(2);
  }

  @Test
  void without_the_shard_map_in_its_conflict_set_a_write_commits_to_a_replaced_shard() {
    warm();
    byte[] shardMap = db.catalogue.open(db.name).shardMapKey();
    network.lose(
        operation ->
            operation.method().startsWith("addReadConflict")
                && Arrays.equals(operation.key(), shardMap));
    network.beforeNextCommit(() -> db.catalogue.reshard(db.name, 4));

    writer.write(db.name, List.of(edit("a", null, "{}")));

    assertThat(commits()).isEqualTo(1);
    assertThat(new StoreAudit(store, AuditListener.SILENT).run(db.name).findings())
        .anySatisfy(
            finding ->
                assertThat(finding.toString())
                    .contains("\"a\"", "lies in the shard 0, where nobody looks for it"));
  }

  @Test
  void updates_clear_their_old_entries_in_whatever_generation_they_lie() {
    List<String> ids = IntStream.range(0, 60).mapToObj(i -> "d" + i).toList();
    Random random = new Random(18);
    for (int shards : new int[] {1, 4, 1, 16, 3}) {
      db.catalogue.reshard(db.name, shards);
      for (String id : ids) {
        if (random.nextInt(3) == 0) {
          RevisionId base = db.branches(id).isEmpty() ? null : db.winner(id).leaf();
          db.put(id, base, "{\"v\":" + shards + "}");
        }
      }
    }
    assertThat(db.changes().stream().map(entry -> topology().at(entry.sequence())).distinct())
        .hasSize(5);
    for (String id : ids) {
      RevisionId base = db.branches(id).isEmpty() ? null : db.winner(id).leaf();
      db.put(id, base, "{}");
    }

    assertThat(db.changes()).hasSize(60);
    assertThat(db.changes()).allMatch(entry -> entry.sequence().compareTo(since(5)) > 0);
    db.audit(60);
  }

  @Test
  void under_full_write_load_nothing_is_lost_or_doubled() throws Exception {
    int writers = 4;
    int editsPerWriter = 60;
    Map<String, RevisionId> acknowledged = new ConcurrentHashMap<>();
    AtomicInteger requests = new AtomicInteger();
    ExecutorService threads = Executors.newFixedThreadPool(writers);
    List<Future<?>> writing = new ArrayList<>();
    for (int number = 0; number < writers; number++) {
      int writer = number;
      writing.add(
          threads.submit(() -> keepWriting(writer, editsPerWriter, acknowledged, requests)));
    }
    Random random = new Random(18);
    List<ShardId> shards = new ArrayList<>();
    while (writing.stream().anyMatch(it -> !it.isDone())) {
      int before = requests.get();
      int count = 1 + random.nextInt(8);
      shards.addAll(db.catalogue.reshard(db.name, count).topology().current().shards());
      // Each resharding makes all pending writes conflict; without a pause they would never
      // succeed.
      Await.until(
          "a request came through",
          () -> requests.get() > before || writing.stream().allMatch(Future::isDone));
    }
    for (Future<?> writer : writing) {
      writer.get();
    }
    threads.shutdown();

    assertThat(shards).doesNotHaveDuplicates();
    assertThat(shards).allMatch(shard -> topology().eraOf(shard).isPresent());
    assertThat(topology().generations().stream().filter(it -> !it.replaced()))
        .containsExactly(topology().current());
    acknowledged.forEach((id, rev) -> assertThat(db.winner(id).leaf()).isEqualTo(rev));
    db.audit(acknowledged.size());
  }

  /** Each writer has its own documents and its own server. */
  private void keepWriting(
      int number, int edits, Map<String, RevisionId> acknowledged, AtomicInteger requests) {
    Catalogue catalogue = new Catalogue(store, db.transactions, InstantSource.system());
    DocumentWriter server = new DocumentWriter(store, catalogue);
    Random random = new Random(number);
    for (int i = 0; i < edits; i++) {
      List<Edit> batch = new ArrayList<>();
      int first = random.nextInt(10);
      for (int j = 0; j < 5; j++) {
        String id = "w" + number + "d" + (first + j);
        batch.add(edit(id, acknowledged.get(id), "{\"i\":" + i + "}"));
      }
      for (EditOutcome outcome : server.write(db.name, batch).outcomes()) {
        acknowledged.put(outcome.id(), written(outcome));
      }
      requests.incrementAndGet();
    }
  }

  /** Makes sure that the other server knows the current state of the database. */
  private RevisionId warm() {
    there.open(db.name);
    return db.put("warm", "{}");
  }

  /** Returns the number of the other server's commits. */
  private int commits() {
    return network.commits() - commitsOfOpening;
  }

  private static List<Edit> inserts(String id, int count) {
    return IntStream.range(0, count).<Edit>mapToObj(i -> edit(id + i, null, "{}")).toList();
  }

  private ShardTopology topology() {
    return db.catalogue.open(db.name).topology();
  }

  private Generation generation(int number) {
    return topology().generations().get(number);
  }

  private Sequence since(int generation) {
    return generation(generation).since().orElseThrow();
  }

  private Sequence sequence(String id) {
    return db.winner(id).winner().sequence();
  }

  /** RFC 018, Backwards Compatibility: writing to a database from before shards. */
  @Nested
  class FromBeforeShards {
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
}
