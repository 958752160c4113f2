package lectus.document.write;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HexFormat;
import java.util.Optional;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.database.Sequence;
import lectus.document.testing.TestDatabase;
import lectus.store.Store;
import lectus.store.testing.GoldenRows;
import lectus.store.testing.TestStores;
import lectus.store.testing.WrittenRows;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The exact bytes of what the removal of old tombstones stores. */
final class GoldenPurgeRowsTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private final Store store = stores.fresh();

  @Test
  void settings_of_a_database() {
    TestDatabase database = TestDatabase.create(store);
    DatabaseHandle db = database.read((tx, handle) -> handle);
    AutoPurgeSubspace settings = new AutoPurgeSubspace(db);
    Sequence searched = new Sequence(0, HexFormat.of().parseHex("000102030405060708090a0b"));
    WrittenRows written =
        WrittenRows.of(
            store,
            DatabaseSubspace.AUTO_PURGE.range(db.prefix()),
            tx -> {
              settings.setTimeToLive(tx, Optional.of("2_d"));
              settings.setSearched(tx, searched);
            });

    GoldenRows.of("AutoPurgeSubspace", db.prefix(), written.stamp()).assertAre(written.rows());
    assertThat(database.<Optional<String>>read((tx, handle) -> settings.timeToLive(tx).join()))
        .hasValue("2_d");
    assertThat(database.<Optional<Sequence>>read((tx, handle) -> settings.searched(tx).join()))
        .hasValue(searched);
  }

  @Test
  void times_of_the_store() {
    byte[] root = store.rootPrefix();
    TimesSubspace times = new TimesSubspace(root);
    TimesSubspace.Time time = new TimesSubspace.Time(3_700, 258);
    WrittenRows written =
        WrittenRows.of(
            store,
            times.range(),
            tx -> {
              times.put(tx, 0, time);
              times.put(tx, 1, time);
              times.put(tx, 2, time);
            });
    GoldenRows golden = GoldenRows.of("TimesSubspace", root, written.stamp());

    golden.assertAre(written.rows());
    assertThat(times.decode(golden.row("exactly"))).isEqualTo(time);
  }
}
