package lectus.account;

import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.KeyValue;
import java.util.List;
import java.util.stream.IntStream;
import lectus.account.AdminsSubspace.Admin;
import lectus.store.Store;
import lectus.store.testing.GoldenRows;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The exact bytes of admins and secrets. */
final class GoldenAccountRowsTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private final Store store = stores.fresh();
  private final byte[] root = store.rootPrefix();

  @Test
  void admins() {
    AdminsSubspace subspace = new AdminsSubspace(root);
    String hash = "-pbkdf2:sha256-0a1b,5a17,600000";
    GoldenRows golden = GoldenRows.of("AdminsSubspace", root, new byte[0]);

    golden.assertAre(List.of(new KeyValue(subspace.key("jan"), AdminsSubspace.value(hash))));
    assertThat(subspace.admin(golden.row("an admin"))).isEqualTo(new Admin("jan", hash));
  }

  @Test
  void secrets() {
    SecretsSubspace subspace = new SecretsSubspace(root);
    byte[] secret = new byte[SecretsSubspace.LENGTH];
    IntStream.range(0, secret.length).forEach(i -> secret[i] = (byte) i);
    GoldenRows golden = GoldenRows.of("SecretsSubspace", root, new byte[0]);

    golden.assertAre(List.of(new KeyValue(subspace.cookieKey(), SecretsSubspace.value(secret))));
    KeyValue row = golden.row("the secret of cookies");
    assertThat(subspace.name(row)).isEqualTo("cookie");
    assertThat(SecretsSubspace.secret(row.getValue())).isEqualTo(secret);
  }
}
