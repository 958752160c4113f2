package lectus.changes.log;

import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.KeyValue;
import java.util.List;
import lectus.audit.testing.SoundStore;
import lectus.database.DatabaseUpdate;
import lectus.store.Awaiting;
import lectus.store.FaultyStore;
import lectus.store.RootSubspace;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** One server at a time compacts the updates log; when it dies, another continues. */
final class CompactionLeaseTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private static final long TWO_HOURS_OF_VERSIONS = 7_200_000_000L;
  private static final List<String> COMPACTED = List.of("created a", "updated a");

  private final Store store = stores.fresh();
  private final StoreDatabases databases = new StoreDatabases(store);
  private final FaultyStore ofOne = new FaultyStore(store);
  private final FaultyStore ofOther = new FaultyStore(store);
  private final UpdatesCompaction one = Compactions.ofAnother(ofOne.store());
  private final UpdatesCompaction other = Compactions.ofAnother(ofOther.store());

  @BeforeEach
  void oneCompacts() {
    databases.create("a");
    update();
    one.step();
    assertThat(LogRows.told(store)).isEqualTo(COMPACTED);
  }

  @Test
  void while_one_server_compacts_another_does_not() {
    update();
    List<DatabaseUpdate> before = LogRows.of(store);
    assertThat(other.step()).as("more to do").isFalse();
    assertThat(LogRows.of(store)).isEqualTo(before);
    one.step();
    assertThat(LogRows.told(store)).isEqualTo(COMPACTED);
  }

  @Test
  void one_that_died_is_followed_by_another_after_a_while() {
    update();
    ofOther.goOnBy(TWO_HOURS_OF_VERSIONS);
    other.step();
    assertThat(LogRows.told(store)).isEqualTo(COMPACTED);
  }

  @Test
  void one_that_stops_lets_another_go_on_at_once() {
    update();
    one.giveBack();
    other.step();
    assertThat(LogRows.told(store)).isEqualTo(COMPACTED);
  }

  @Test
  void what_another_has_nobody_gives_back() {
    update();
    List<DatabaseUpdate> before = LogRows.of(store);
    other.giveBack();
    other.step();
    assertThat(LogRows.of(store)).isEqualTo(before);
  }

  @Test
  void one_that_was_asleep_while_another_took_over_stores_nothing() {
    update();
    ofOther.goOnBy(TWO_HOURS_OF_VERSIONS);
    ofOne.goOnBy(TWO_HOURS_OF_VERSIONS);
    ofOne.beforeNextCommit(
        () -> {
          databases.put("a", "x");
          other.step();
          update();
        });
    one.step();
    assertThat(LogRows.told(store))
        .as("compacted by the other, then updated twice")
        .containsExactly("created a", "updated a", "updated a", "updated a");
  }

  @Test
  void a_quiet_log_makes_nobody_write() {
    List<KeyValue> lease = lease();
    List<DatabaseUpdate> before = LogRows.of(store);
    ofOther.goOnBy(TWO_HOURS_OF_VERSIONS);
    ofOne.goOnBy(TWO_HOURS_OF_VERSIONS);
    one.step();
    one.step();
    other.step();
    assertThat(LogRows.of(store)).isEqualTo(before);
    assertThat(lease()).hasSize(1).isEqualTo(lease);
  }

  private List<KeyValue> lease() {
    return databases.transactions.read(
        tx -> Awaiting.await(tx.getRange(RootSubspace.LEASES.range(store.rootPrefix())).asList()));
  }

  private void update() {
    databases.put("a", "x");
    databases.put("a", "x");
  }
}
