package lectus.document.upgrade;

import static lectus.document.upgrade.OldDatabase.VALIDATES;
import static lectus.document.upgrade.OldDatabase.formatKey;
import static lectus.document.upgrade.OldDatabase.upgradeOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.apple.foundationdb.FDBException;
import com.apple.foundationdb.Transaction;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.LongStream;
import lectus.audit.testing.SoundStore;
import lectus.database.CreationOptions;
import lectus.database.NameRange;
import lectus.document.testing.TestDatabase;
import lectus.document.upgrade.FirstFormat.Revision;
import lectus.error.LectusException;
import lectus.http.testing.LectusServer;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;
import lectus.server.cluster.StartException;
import lectus.store.FaultyStore;
import lectus.store.FaultyStore.Fault;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Upgrades that are killed, and databases that change while they are upgraded. */
final class InterruptedUpgradesTest {
  @RegisterExtension
  static final TestStores stores = TestStores.endingWith(SoundStore::assertSound);

  private final OldDatabase database = OldDatabase.create(stores.fresh());
  private final FirstFormat old = database.written;
  private final TestDatabase db = database.known;
  private final FaultyStore network = new FaultyStore(database.store);

  /**
   * Runs it after documents have been read and written, after the commit that begins an upgrade.
   */
  private void beforeTheRewriting(Runnable interference) {
    network.beforeNextCommit(() -> network.beforeNextCommit(interference));
  }

  static LongStream seeds() {
    return LongStream.concat(
        LongStream.range(0, 10), LongStream.of(System.nanoTime() & 0xffff_ffffL));
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void winners_are_those_of_a_model_of_couchdb_wherever_it_is_killed(long seed) {
    Map<String, List<Revision>> documents = layRandomly(new Random(seed));

    int kills = killUntilItIsDone(new Random(seed));

    assertThat(kills).isPositive();
    documents.forEach(
        (id, leaves) -> {
          List<String> expected = new ArrayList<>(leaves.stream().map(Revision::text).toList());
          expected.sort(couchDbOrder(leaves));
          assertThat(db.branches(id).stream().map(EditBranch::leaf))
              .containsExactlyElementsOf(expected.stream().map(RevisionId::of).toList());
        });
    db.audit(documents.size());
  }

  /** Makes one commit after the other fail for good; each start continues from what is stored. */
  private int killUntilItIsDone(Random random) {
    for (int kills = 0; ; kills++) {
      for (int commits = 0; commits < random.nextInt(1 + kills); commits++) {
        network.plan(Fault.NONE);
      }
      network.plan(random.nextBoolean() ? Fault.IO_ERROR : Fault.NOT_COMMITTED, Fault.IO_ERROR);
      try {
        upgradeOf(network.store()).run();
        network.heal();
        return kills;
      } catch (FDBException | LectusException killed) {
        network.heal();
        assertThat(database.report().findings()).isEmpty();
      }
    }
  }

  private static Comparator<String> couchDbOrder(List<Revision> leaves) {
    Map<String, Revision> byText = new LinkedHashMap<>();
    leaves.forEach(it -> byText.put(it.text(), it));
    return Comparator.comparing((String it) -> byText.get(it).deleted())
        .thenComparing(it -> -byText.get(it).position())
        .thenComparing(
            it -> FirstFormat.bytes(byText.get(it).hash()), (a, b) -> Arrays.compareUnsigned(b, a));
  }

  private Map<String, List<Revision>> layRandomly(Random random) {
    Map<String, List<Revision>> documents = new LinkedHashMap<>();
    for (int document = 0; document < 220; document++) {
      Map<String, Revision> leaves = new LinkedHashMap<>();
      for (int leaf = random.nextInt(4); leaf >= 0; leaf--) {
        String text = 1 + random.nextInt(2) + "-" + randomHash(random);
        leaves.put(text, random.nextInt(4) == 0 ? Revision.tombstone(text) : Revision.of(text));
      }
      String id = "doc" + document;
      documents.put(id, List.copyOf(leaves.values()));
      old.lay(id, leaves.values().toArray(Revision[]::new));
    }
    return documents;
  }

  private static String randomHash(Random random) {
    byte[] bytes = new byte[16];
    random.nextBytes(bytes);
    String hex = HexFormat.of().formatHex(bytes);
    return switch (random.nextInt(3)) {
      case 0 -> hex;
      case 1 -> hex.substring(0, 1 + random.nextInt(15));
      default -> "\u00fc\0" + hex.substring(0, 20);
    };
  }

  /** A server in a cluster that is replaced server by server, so that old ones still run. */
  @Test
  void a_server_of_the_first_version_writes_nothing_once_the_upgrade_has_begun() {
    old.lay("a", Revision.of("1-zz"));
    Transaction late = database.store.database().createTransaction();
    db.catalogue.guard(late, db.catalogue.current(late, db.name));
    old.lay(late, "b", Revision.of("1-zz"));
    network.plan(Fault.NONE, Fault.IO_ERROR);

    assertThatThrownBy(upgradeOf(network.store())::run).isInstanceOf(FDBException.class);

    assertThat(database.handle().isCurrent()).isFalse();
    byte[] unknownField = formatKey(database.handle());
    assertThat(db.transactions.<byte[]>read(tx -> tx.get(unknownField).join())).isNotNull();
    assertThatThrownBy(() -> late.commit().join()).hasCauseInstanceOf(FDBException.class);
    late.close();
    database.upgrade();
    db.audit(1);
  }

  @Test
  void two_servers_may_start_at_once() {
    old.lay("a", Revision.of("1-zz"), Revision.of("1-ff00000000000000000000000000000a"));
    old.lay("_design/v", Revision.of("1-zz").with(VALIDATES));
    beforeTheRewriting(upgradeOf(database.store)::run);

    upgradeOf(network.store()).run();

    assertThat(db.leaves("a")).containsExactly("1-ff00000000000000000000000000000a", "1-zz");
    assertThat(database.handle().validator()).contains("_design/v");
    db.audit(2);
  }

  @Test
  void a_database_that_is_deleted_meanwhile_is_left_alone() {
    old.lay("a", Revision.of("1-zz"));
    beforeTheRewriting(() -> db.catalogue.delete(db.name));

    upgradeOf(network.store()).run();

    assertThat(db.catalogue.names(NameRange.ALL).names()).isEmpty();
  }

  @Test
  void a_database_that_is_created_again_meanwhile_is_left_alone() {
    old.lay("a", Revision.of("1-zz"));
    beforeTheRewriting(
        () -> {
          db.catalogue.delete(db.name);
          db.catalogue.create(db.name, CreationOptions.DEFAULT);
          db.put("new", "{}");
        });

    upgradeOf(network.store()).run();

    assertThat(db.leaves("a")).isEmpty();
    db.audit(1);
  }

  @Test
  void a_database_that_is_resharded_meanwhile_has_its_change_in_a_new_shard() {
    old.lay("a", Revision.of("1-zz"), Revision.of("1-ff00000000000000000000000000000a"));
    beforeTheRewriting(() -> db.catalogue.reshard(db.name, 4));

    upgradeOf(network.store()).run();

    assertThat(database.handle().topology().generations()).hasSize(2);
    db.audit(1);
  }

  @Test
  void a_server_that_cannot_upgrade_does_not_start() {
    old.lay("a", Revision.of("1-zz"));
    network.plan(Fault.IO_ERROR);

    assertThatThrownBy(() -> LectusServer.start(network.store()))
        .isInstanceOf(StartException.class)
        .hasMessageContaining("cannot be upgraded");
    database.upgrade();
    db.audit(1);
  }
}
