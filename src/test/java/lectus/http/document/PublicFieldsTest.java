package lectus.http.document;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import lectus.account.Admins;
import lectus.audit.testing.SoundStore;
import lectus.config.AccountKeys;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import lectus.http.testing.Request;
import lectus.http.testing.TestSettings;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What users see of each other's documents with {@code access.public-fields}. */
final class PublicFieldsTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private static final String BOB = "/_users/org.couchdb.user:bob";
  private static final String QUIET = "/_users/org.couchdb.user:quiet";

  @AutoClose private LectusServer server;

  @BeforeEach
  void start() {
    Store store = stores.fresh();
    new Admins(store).put("root", Admins.hashOf("secret", 10));
    server =
        LectusServer.start(
            store,
            new TestSettings().with(AccountKeys.PUBLIC_FIELDS, "mail, town, derived_key, salt"));
    as("root:secret", "PUT", "/_users", "");
    make("anna", "");
    make("bob", ",\"mail\":{\"home\":\"b@c\"},\"phone\":1");
    make("quiet", ",\"phone\":2");
  }

  private void make(String name, String more) {
    String json =
        ("{\"type\":\"user\",\"name\":\"%s\",\"password\":\"apple\",\"roles\":[\"r\"]%s}")
            .formatted(name, more);
    as("root:secret", "PUT", "/_users/org.couchdb.user:" + name, json).expect(201);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "?conflicts=true", "?attachments=true"})
  void others_see_the_public_fields_and_nothing_else(String query) {
    Answer bob = as("anna:apple", "GET", BOB + query, "").expect(200);
    assertThat(bob.body())
        .matches(
            "\\{\"_id\":\"org.couchdb.user:bob\",\"_rev\":\"1-[0-9a-f]{32}\","
                + "\"mail\":\\{\"home\":\"b@c\"}}\\s*");
    String rev = bob.member("_rev");
    assertThat(as("anna:apple", "GET", BOB + "?rev=" + rev, "").body()).isEqualTo(bob.body());
    as("anna:apple", "HEAD", BOB, "").expect(200);
  }

  @ParameterizedTest
  @CsvSource({"root:secret", "bob:apple"})
  void a_user_and_admins_see_all_of_it(String who) {
    assertThat(as(who, "GET", BOB, "").body()).contains("phone", "derived_key", "roles");
  }

  @Test
  void a_user_without_public_fields_is_not_told_from_nobody() {
    Answer nobody = as("anna:apple", "GET", "/_users/org.couchdb.user:nobody", "").expect(404);
    assertThat(nobody.body()).contains("\"missing\"");
    as("anna:apple", "GET", QUIET, "").expect(404, nobody.body());

    String rev = as("root:secret", "GET", BOB, "").member("_rev");
    as("root:secret", "DELETE", BOB + "?rev=" + rev, "").expect(200);
    assertThat(as("anna:apple", "GET", BOB, "").body()).isEqualTo(nobody.body());
  }

  @ParameterizedTest
  @CsvSource({
    "GET,/_users/org.couchdb.user:bob?open_revs=all,404",
    "GET,/_users/org.couchdb.user:bob/file,404",
    "DELETE,/_users/org.couchdb.user:bob?rev=1-a,404",
    "PUT,/_users/org.couchdb.user:bob,404",
    "GET,/_users/_local/x,404",
    "GET,/_users/_design/x,403",
    "GET,/_users/_all_docs?include_docs=true,401",
    "GET,/_users/_changes?include_docs=true,401",
    "POST,/_users/_bulk_get,403"
  })
  void nothing_else_shows_more_than_before(String method, String target, int status) {
    as("anna:apple", method, target, method.startsWith("P") ? "{}" : "").expect(status);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "?attachments=true", "?att_encoding_info=true"})
  void attachments_are_not_public(String query) {
    String rev = as("bob:apple", "GET", BOB, "").member("_rev");
    Answer attached = as("bob:apple", "PUT", BOB + "/photo?rev=" + rev, "1");
    assertThat(attached.status()).as(attached.body()).isEqualTo(201);
    assertThat(as("bob:apple", "GET", BOB + query, "").body()).contains("photo");
    assertThat(as("anna:apple", "GET", BOB + query, "").body())
        .contains("mail")
        .doesNotContain("_attachments");
  }

  @Test
  void whoever_may_not_read_the_database_sees_none_of_it() {
    server.get(BOB).expect(401);
  }

  @Test
  void the_configuration_api_shows_the_fields() {
    for (String section : List.of("chttpd_auth", "couch_httpd_auth")) {
      String target = "/_node/_local/_config/" + section + "/public_fields";
      assertThat(as("root:secret", "GET", target, "").body().strip())
          .isEqualTo("\"mail,town,derived_key,salt\"");
    }
  }

  private Answer as(String credentials, String method, String target, String json) {
    String basic = Base64.getEncoder().encodeToString(credentials.getBytes(StandardCharsets.UTF_8));
    Request request = server.request(method, target, "Authorization", "Basic " + basic);
    return json.isEmpty() ? request.send() : request.json(json).send();
  }
}
