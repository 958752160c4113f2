package lectus.changes.page;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import lectus.audit.testing.SoundStore;
import lectus.changes.page.DeletedDatabases.Listed;
import lectus.database.Catalogue;
import lectus.database.Catalogue.DatabaseSettings;
import lectus.database.CreationOptions;
import lectus.database.DatabaseCache;
import lectus.database.DatabaseConfiguration.BodyLayout;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.document.testing.TestDatabase;
import lectus.document.write.DocumentWriter;
import lectus.json.JsonBuffer;
import lectus.store.Awaiting;
import lectus.store.FaultyStore;
import lectus.store.LeasedRounds;
import lectus.store.LeasedRounds.LeasedSteps;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Deleted databases are kept as long as they should be, and nobody takes them for living ones. */
final class DeletedSweepTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private static final long KEPT = 600;
  private static final DatabaseName NAME = DatabaseName.of("db");

  private final Store store = stores.fresh();
  private final TransactionRunner transactions =
      new TransactionRunner(store, TransactionLimits.DEFAULT);
  private long now = 1_800_000_000;
  private long kept = KEPT;
  private final InstantSource clock = () -> Instant.ofEpochSecond(now);
  private final Catalogue here = catalogue();
  private final Catalogue there = catalogue();
  private final DeletedDatabases deleted = new DeletedDatabases(store, here, transactions);

  private Catalogue catalogue() {
    return new Catalogue(
        store,
        transactions,
        clock,
        new DatabaseCache(store.rootPrefix(), 1 << 20),
        () -> new DatabaseSettings(BodyLayout.INLINE, kept));
  }

  private DatabaseHandle createAndDelete(DatabaseName name) {
    DatabaseHandle db = here.create(name, CreationOptions.DEFAULT);
    TestDatabase.open(store, name.text()).put("a", "{}");
    here.delete(name);
    return db;
  }

  private void round() {
    LeasedSteps sweep =
        deleted.sweep(LeasedRounds.withoutPause(store, DeletedDatabases.SWEEP), () -> kept, clock);
    boolean more;
    do {
      more = sweep.step();
    } while (more);
    sweep.giveBack();
  }

  private String list() {
    JsonBuffer out = new JsonBuffer(64);
    deleted
        .list(new Listed(Optional.empty(), Optional.empty(), true, false, 0, Long.MAX_VALUE))
        .appendNext(out);
    return out.toString();
  }

  private boolean hasRows(DatabaseHandle db) {
    List<KeyValue> rows =
        transactions.read(
            tx -> Awaiting.await(tx.getRange(Range.startsWith(db.prefix()), 1).asList()));
    return !rows.isEmpty();
  }

  @Test
  void one_is_kept_for_as_long_as_it_should_be() {
    DatabaseHandle first = createAndDelete(NAME);
    now++;
    DatabaseHandle second = createAndDelete(DatabaseName.of("other"));
    now += KEPT - 2;
    round();
    assertThat(list()).contains("\"db\"", "\"other\"");

    now++;
    round();
    assertThat(list()).doesNotContain("\"db\"").contains("\"other\"");
    assertThat(hasRows(first)).isFalse();
    assertThat(hasRows(second)).isTrue();
    now++;
    round();
    assertThat(list()).isEqualTo("[]\n");
    assertThat(hasRows(second)).isFalse();
  }

  @Test
  void another_time_counts_for_those_that_were_deleted_before() {
    createAndDelete(NAME);
    now += KEPT;
    kept = KEPT + 1;
    round();
    assertThat(list()).contains("\"db\"");
    kept = KEPT;
    round();
    assertThat(list()).isEqualTo("[]\n");
  }

  @Test
  void no_server_takes_it_for_the_database_that_it_was() {
    DatabaseHandle former = here.create(NAME, CreationOptions.DEFAULT);
    there.open(NAME);
    here.delete(NAME);
    assertThatThrownBy(() -> there.open(NAME)).hasMessageContaining("does not exist");

    String timestamp = Instant.ofEpochSecond(now).toString();
    DatabaseHandle told = deleted.undelete(NAME, timestamp, NAME, false);
    DatabaseHandle now = there.open(NAME);
    assertThat(now.instance()).isEqualTo(told.instance()).isNotEqualTo(former.instance());
    assertThat(now.incarnation()).isEqualTo(1);
    assertThat(now.prefix()).isEqualTo(former.prefix());
  }

  @Test
  void a_write_that_began_before_the_deletion_finds_no_database() {
    TestDatabase db = TestDatabase.create(store, "db");
    FaultyStore late = new FaultyStore(store);
    late.beforeNextCommit(() -> here.delete(NAME));
    Catalogue catalogue =
        new Catalogue(
            late.store(), new TransactionRunner(late.store(), TransactionLimits.DEFAULT), clock);
    TestDatabase behind = db.writtenBy(new DocumentWriter(late.store(), catalogue));

    assertThatThrownBy(() -> behind.put("a", "{}")).hasMessageContaining("does not exist");
    deleted.undelete(NAME, Instant.ofEpochSecond(now).toString(), NAME, false);
    assertThat(db.branches("a")).isEmpty();
  }
}
