package lectus.http.api;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import lectus.changes.page.DatabaseInfo;
import lectus.database.Catalogue;
import lectus.database.DatabaseName;
import lectus.database.NameRange;
import lectus.database.SecurityObject;
import lectus.database.UserContext;
import lectus.database.testing.TestLayout;
import lectus.http.auth.DatabaseGuard;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonArray;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

final class InfosOfRangeTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private static final UserContext ANN = UserContext.named("ann", Set.of());
  private static final int DATABASES = 60;

  private final Store store = stores.fresh();
  private final TransactionRunner transactions =
      new TransactionRunner(store, TransactionLimits.DEFAULT);
  private final Catalogue catalogue = new Catalogue(store, transactions, InstantSource.system());
  private final DatabaseGuard guard = new DatabaseGuard(catalogue, SecurityObject.EVERYBODY);

  private static DatabaseName name(int number) {
    return DatabaseName.of("db%02d".formatted(number));
  }

  private static List<String> keys(JsonBuffer json) {
    return ((JsonArray) JsonValue.parse(json.toBytes()))
        .elements().stream()
            .map(row -> ((JsonString) ((JsonObject) row).get("key").orElseThrow()).value())
            .toList();
  }

  @Test
  void a_database_whose_members_changed_between_two_pages_is_left_out() {
    IntStream.range(0, DATABASES).forEach(it -> catalogue.create(name(it), TestLayout.OPTIONS));
    NameRange all =
        new NameRange(Optional.empty(), Optional.empty(), true, false, 0, Long.MAX_VALUE);
    InfosOfRange body =
        new InfosOfRange(
            new VisibleNames(catalogue, guard, ANN, all),
            new DatabaseInfo(catalogue, transactions));
    JsonBuffer json = new JsonBuffer(1024);
    assertThat(body.appendNext(json)).isTrue();

    catalogue.secure(name(DATABASES - 2), "{\"members\":{\"names\":[\"bob\"]}}".getBytes(UTF_8));
    while (body.appendNext(json)) {}

    assertThat(keys(json))
        .containsExactlyElementsOf(
            IntStream.range(0, DATABASES)
                .filter(it -> it != DATABASES - 2)
                .mapToObj(it -> name(it).text())
                .toList());
  }
}
