package lectus.database;

import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.KeyValue;
import java.util.List;
import lectus.database.SettingsSubspace.SettingName;
import lectus.store.Store;
import lectus.store.testing.GoldenRows;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The exact bytes of settings. */
final class GoldenSettingRowsTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private final Store store = stores.fresh();
  private final byte[] root = store.rootPrefix();

  @Test
  void settings() {
    SettingsSubspace subspace = new SettingsSubspace(root);
    SettingName name = new SettingName("cors", "origins");
    GoldenRows golden = GoldenRows.of("SettingsSubspace", root, new byte[0]);

    golden.assertAre(List.of(new KeyValue(subspace.key(name), SettingsSubspace.value("*"))));
    KeyValue row = golden.row("a setting");
    assertThat(subspace.check(row)).isEqualTo(name);
    assertThat(SettingsSubspace.text(row.getValue())).isEqualTo("*");
  }
}
