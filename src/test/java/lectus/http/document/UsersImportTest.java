package lectus.http.document;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import lectus.account.Admins;
import lectus.audit.testing.SoundStore;
import lectus.config.AccountKeys;
import lectus.config.HttpKeys;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.LectusServer;
import lectus.http.testing.Request;
import lectus.http.testing.TestSettings;
import lectus.store.Store;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Many users with clear passwords in one request of an admin, whose hashes take their time. */
final class UsersImportTest {
  @RegisterExtension
  static final TestStores stores = TestStores.endingWith(SoundStore::assertSound);

  private static final int QUICK = 10;

  private LectusServer start(int iterations) {
    Store store = stores.fresh();
    new Admins(store).put("root", Admins.hashOf("secret", QUICK));
    LectusServer server =
        LectusServer.start(
            store,
            new TestSettings()
                .with(AccountKeys.HASH_ITERATIONS, iterations)
                .with(HttpKeys.REQUEST_SECONDS, 1));
    assertThat(request(server, "root:secret", "PUT", "/_users").send().status()).isEqualTo(201);
    return server;
  }

  @Test
  void an_import_delays_nobody_and_ends_when_its_client_leaves() {
    try (LectusServer server = start(200_000)) {
      Answer anna =
          request(server, "root:secret", "PUT", "/_users/org.couchdb.user:anna")
              .json(hashedUser("anna", Admins.hashOf("apple", QUICK)))
              .send();
      assertThat(anna.status()).isEqualTo(201);
      try (Connection client =
          request(server, "root:secret", "POST", "/_users/_bulk_docs").json(users(5_000)).open()) {
        Await.until("passwords are hashed", UsersImportTest::isHashing);
        Answer session = request(server, "anna:apple", "GET", "/_session").send();
        assertThat(session.body()).contains("\"name\":\"anna\"");
        assertThat(isHashing()).isTrue();
      }
      Await.until("no more passwords are hashed", () -> !isHashing());
      assertThat(
              request(server, "root:secret", "GET", "/_users/org.couchdb.user:n0").send().status())
          .isEqualTo(404);
    }
  }

  @Test
  void an_import_may_take_longer_than_a_request_may_wait() {
    try (LectusServer server = start(100_000)) {
      Answer imported =
          request(server, "root:secret", "POST", "/_users/_bulk_docs").json(users(5)).send();
      assertThat(imported.status()).isEqualTo(201);
      assertThat(imported.body()).doesNotContain("error");
    }
  }

  private static boolean isHashing() {
    return Thread.getAllStackTraces().entrySet().stream()
        .filter(it -> it.getKey().getName().startsWith("lectus-hashing-import"))
        .map(Map.Entry::getValue)
        .flatMap(Arrays::stream)
        .anyMatch(frame -> frame.getClassName().startsWith("lectus.account.NewPassword"));
  }

  private static String users(int number) {
    return IntStream.range(0, number)
        .mapToObj(
            i ->
                ("{'_id':'org.couchdb.user:n%d','type':'user','name':'n%d','roles':[],"
                        + "'password':'fig'}")
                    .formatted(i, i)
                    .replace('\'', '"'))
        .collect(Collectors.joining(",", "{\"docs\":[", "]}"));
  }

  /**
   * @param hash as in CouchDB's section {@code [admins]}
   */
  private static String hashedUser(String name, String hash) {
    String[] parts = hash.substring("-pbkdf2:sha256-".length()).split(",");
    return ("{'type':'user','name':'%s','roles':[],'password_scheme':'pbkdf2',"
            + "'pbkdf2_prf':'sha256','derived_key':'%s','salt':'%s','iterations':%s}")
        .formatted(name, parts[0], parts[1], parts[2])
        .replace('\'', '"');
  }

  private static Request request(
      LectusServer server, String credentials, String method, String target) {
    String basic = Base64.getEncoder().encodeToString(credentials.getBytes(StandardCharsets.UTF_8));
    return server.request(method, target).header("Authorization", "Basic " + basic);
  }
}
