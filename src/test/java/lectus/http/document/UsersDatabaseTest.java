package lectus.http.document;

import static lectus.http.testing.SingleQuotes.json;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import lectus.account.Admins;
import lectus.attachment.Digests;
import lectus.attachment.Md5;
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
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The database of users, as its admin and as its users see it. */
final class UsersDatabaseTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private static final String BOB = "/_users/org.couchdb.user:bob";

  @Nested
  class Documents {
    private static final String ANNA = "/_users/org.couchdb.user:anna";

    private static final int QUICK = 10;

    @AutoClose private LectusServer server;

    @BeforeEach
    void start() {
      Store store = stores.fresh();
      new Admins(store).put("root", Admins.hashOf("secret", 10));
      server =
          LectusServer.start(
              store, new TestSettings().with(AccountKeys.USERS_SECURITY_EDITABLE, true));
      asRoot("PUT", "/_users", "").expect(201);
      asRoot("PUT", ANNA, user("anna", "apple", "\"staff\"")).expect(201);
      asRoot("PUT", BOB, user("bob", "pear", "")).expect(201);
      // As it was before CouchDB 3, so that it is the documents' own rules that decide.
      asRoot("PUT", "/_users/_security", "{}").expect(200);
    }

    @Test
    void a_user_sees_himself_without_a_password_in_the_clear() {
      Answer anna = as("anna", "apple", "GET", ANNA, "").expect(200);
      assertThat(anna.member("name")).isEqualTo("anna");
      assertThat(anna.member("derived_key")).hasSize(64);
      assertThat(anna.body()).doesNotContain("apple", "\"password\"");
    }

    @ParameterizedTest
    @CsvSource({
      "GET,org.couchdb.user:bob",
      "HEAD,org.couchdb.user:bob",
      "GET,org.couchdb.user:nobody",
      "GET,org.couchdb.user:bob?revs=true",
      "GET,org.couchdb.user:bob?open_revs=all",
      "GET,org.couchdb.user:bob/file",
      "GET,_local/x",
      "GET,other",
      "PUT,org.couchdb.user:bob",
      "PUT,org.couchdb.user:bob?new_edits=false&rev=3-a",
      "PUT,org.couchdb.user:nobody",
      "PUT,_local/x",
      "PUT,other",
      "DELETE,org.couchdb.user:bob",
      "DELETE,org.couchdb.user:nobody",
      "DELETE,_local/x",
      "COPY,org.couchdb.user:bob",
      "COPY,_local/x"
    })
    void a_user_cannot_tell_whether_others_exist(String method, String target) {
      Answer answer =
          request("anna", "apple", method, "/_users/" + target)
              .header("Destination", "org.couchdb.user:anna")
              .json(json("{'type':'user','name':'bob','roles':[]}"))
              .send()
              .expect(404);
      if (!method.equals("HEAD")) {
        answer.expect("{\"error\":\"not_found\",\"reason\":\"missing\"}\n");
      }
    }

    @ParameterizedTest
    @CsvSource({"replicated", "rev"})
    void who_is_not_logged_in_registers_and_becomes_nobody_who_is_there(String how) {
      String rev = as("anna", "apple", "GET", ANNA, "").member("_rev");
      String target = ANNA + (how.equals("rev") ? "?rev=" + rev : "?new_edits=false&rev=9-a");
      Answer answer = server.put(target, user("anna", "stolen", "\"staff\"")).expect(403);
      assertThat(answer.member("reason")).isEqualTo("You may only update your own user document.");
      as("anna", "stolen", "GET", ANNA, "").expect(401);
      as("anna", "apple", "GET", ANNA, "").expect(200);
      server.put("/_users/org.couchdb.user:new", user("new", "plum", "")).expect(201);
    }

    @Test
    void a_partition_of_users_is_for_admins() {
      asRoot("PUT", "/a%2F_users?partitioned=true", "").expect(201);
      asRoot("PUT", "/a%2F_users/_security", "{}").expect(200);
      String partition = "/a%2F_users/_partition/org.couchdb.user";
      as("anna", "apple", "GET", partition + "/_all_docs", "").expect(403);
      as("anna", "apple", "GET", partition, "").expect(403);
      asRoot("GET", partition + "/_all_docs", "").expect(200);
    }

    @Test
    void a_copy_of_oneself_makes_nobody_else() {
      request("anna", "apple", "COPY", ANNA)
          .header("Destination", "org.couchdb.user:carl")
          .send()
          .expect(404);
    }

    @ParameterizedTest
    @CsvSource({
      "GET,_all_docs",
      "POST,_all_docs",
      "GET,_changes",
      "GET,_design_docs",
      "GET,_local_docs",
      "POST,_all_docs/queries",
      "POST,_bulk_get",
      "POST,_revs_diff",
      "POST,_missing_revs",
      "GET,_design/x"
    })
    void what_shows_several_users_is_for_admins(String method, String target) {
      for (String name : new String[] {"anna:apple", ":"}) {
        Request request = server.request(method, "/_users/" + target);
        if (name.length() > 1) {
          request.header("Authorization", basic(name));
        }
        assertThat(request.json("{\"docs\":[],\"queries\":[]}").send().status())
            .isIn(401, 403, 404);
      }
      if (!target.startsWith("_design/")) {
        asRoot(method, "/_users/" + target, "{\"docs\":[],\"queries\":[]}").expect(200);
      }
    }

    @Test
    void a_user_changes_his_password_and_logs_in_with_it() {
      String rev = as("anna", "apple", "GET", ANNA, "").member("_rev");
      as("anna", "apple", "PUT", ANNA + "?rev=" + rev, user("anna", "plum", "\"staff\""))
          .expect(201);
      as("anna", "plum", "GET", ANNA, "").expect(200);
    }

    @Test
    void a_user_gives_himself_no_roles() {
      String rev = as("anna", "apple", "GET", ANNA, "").member("_rev");
      Answer answer =
          as("anna", "apple", "PUT", ANNA + "?rev=" + rev, user("anna", "apple", "\"boss\""))
              .expect(403);
      assertThat(answer.member("reason")).isEqualTo("Only _admin may edit roles");
    }

    @Test
    void no_request_stores_a_password_in_the_clear() {
      asRoot(
          "POST",
          "/_users",
          "{\"_id\":\"org.couchdb.user:c\"," + user("c", "fig", "").substring(1));
      asRoot("PUT", "/_users/org.couchdb.user:d?batch=ok", user("d", "fig", ""));
      asRoot("PUT", "/_users/org.couchdb.user:e?new_edits=false&rev=1-a", user("e", "fig", ""));
      asRoot(
          "POST",
          "/_users/_bulk_docs",
          json("{'docs':[{'_id':'org.couchdb.user:f',%s,{'_id':'org.couchdb.user:g','type':'user','name':'g','roles':[]}]}")
              .formatted(user("f", "fig", "").substring(1)));
      asRoot(
          "POST",
          "/_users/_bulk_docs",
          json("{'new_edits':false,'docs':[{'_rev':'1-a','_id':'org.couchdb.user:h',%s]}")
              .formatted(user("h", "fig", "").substring(1)));
      asRoot("PUT", "/_users/_local/x", "{\"password\":\"fig\"}");
      asRoot("PUT", "/_users/_design/x", "{\"password\":\"fig\"}");
      asRoot("PUT", "/a%2F_users", "");
      asRoot("PUT", "/a%2F_users/x", "{\"password\":\"fig\"}");
      for (String name : new String[] {"c", "e", "f", "h"}) {
        assertThat(as(name, "fig", "GET", "/_users/org.couchdb.user:" + name, "").status())
            .as(name)
            .isEqualTo(200);
      }
      for (String target :
          new String[] {
            "/_users/_all_docs?include_docs=true",
            "/_users/_local/x",
            "/_users/_design/x",
            "/a%2F_users/x",
            "/_users/_changes?include_docs=true&style=all_docs"
          }) {
        assertThat(asRoot("GET", target, "").body()).contains("derived_key").doesNotContain("fig");
      }
    }

    @Test
    void a_password_that_cannot_be_used_is_not_repeated() {
      Answer answer = asRoot("PUT", BOB, "{\"password\":{\"secret\":\"fig\"}}").expect(403);
      assertThat(answer.body()).doesNotContain("fig");
    }

    @Test
    void a_request_brings_a_limited_number_of_passwords() {
      server.post("/_users/_bulk_docs", docs(EditPreparation.MAX_PASSWORDS)).expect(201);
      Answer more =
          server.post("/_users/_bulk_docs", docs(EditPreparation.MAX_PASSWORDS + 1)).expect(413);
      assertThat(more.body()).contains("51 passwords, the limit is 50");
    }

    @Test
    void an_admin_imports_thousands_of_users_at_once() {
      Answer imported = bulk(EditPreparation.MAX_PASSWORDS_OF_ADMINS).expect(201);
      assertThat(imported.body()).doesNotContain("error");
      bulk(EditPreparation.MAX_PASSWORDS_OF_ADMINS + 1).expect(413);
      assertThat(as("n0", "fig", "GET", "/_session", "").body()).contains("\"name\":\"n0\"");
      assertThat(as("n4999", "fig", "GET", "/_session", "").body()).contains("\"name\":\"n4999\"");
    }

    /** Else a user could keep the server hashing with what it will refuse. */
    @Test
    void passwords_of_others_are_not_hashed() {
      Answer refused =
          as("anna", "apple", "POST", "/_users/_bulk_docs", docs(EditPreparation.MAX_PASSWORDS + 1))
              .expect(201);
      assertThat(refused.body()).contains("\"error\":\"not_found\"").doesNotContain("\"rev\"");
    }

    private Answer bulk(int users) {
      return asRoot("POST", "/_users/_bulk_docs", docs(users));
    }

    private static String docs(int users) {
      String docs =
          IntStream.range(0, users)
              .mapToObj(i -> "{\"_id\":\"org.couchdb.user:n" + i + "\"," + user("n" + i, "fig", ""))
              .map(json -> json.replace(",{", ","))
              .collect(Collectors.joining(","));
      return "{\"docs\":[" + docs + "]}";
    }

    @Test
    void strangers_may_register_where_members_are_everybody() {
      server
          .request("PUT", "/_users/org.couchdb.user:new")
          .json(user("new", "fig", ""))
          .send()
          .expect(201);
      as("new", "fig", "GET", "/_users/org.couchdb.user:new", "").expect(200);
      server
          .request("PUT", "/_users/org.couchdb.user:new")
          .json(user("new", "x", ""))
          .send()
          .expect(409);
    }

    @Test
    void design_documents_in_a_bulk_request_need_an_admin() {
      asRoot("PUT", "/db", "");
      asRoot("PUT", "/db/_security", "{}");
      Answer answer =
          as("anna", "apple", "POST", "/db/_bulk_docs", json("{'docs':[{'_id':'_design/x'},{}]}"))
              .expect(201);
      assertThat(answer.body())
          .contains(
              json(
                  "{'id':'_design/x','error':'forbidden','reason':'You are not a db or server"
                      + " admin.'}"))
          .contains("\"ok\":true");
      Answer stranger = server.post("/db/_bulk_docs", "{\"docs\":[{\"_id\":\"_design/x\"}]}");
      assertThat(stranger.body()).contains("\"error\":\"unauthorized\"");
      request("anna", "apple", "COPY", "/db/_local/none")
          .header("Destination", "_design/x")
          .send()
          .expect(404);
    }

    @Test
    void a_user_has_a_database_of_his_own_as_soon_as_he_is_made() {
      try (LectusServer personal =
          LectusServer.start(
              stores.fresh(), new TestSettings().with(AccountKeys.PER_USER_DATABASES, true))) {
        personal.put("/_users");
        personal.put(ANNA, user("anna", "apple", "")).expect(201);
        assertThat(personal.get("/userdb-616e6e61/_security").body()).contains("\"anna\"");
        String bob = "{\"_id\":\"org.couchdb.user:bob\"," + user("bob", "apple", "").substring(1);
        personal.post("/_users/_bulk_docs", "{\"docs\":[" + bob + "]}");
        assertThat(personal.get("/userdb-626f62/_security").body()).contains("\"bob\"");
      }
    }

    @Test
    void the_security_of_users_is_fixed_unless_configured() {
      try (LectusServer usual = LectusServer.start(stores.fresh())) {
        usual.put("/_users");
        Answer answer = usual.put("/_users/_security", "{}").expect(403);
        assertThat(answer.member("reason"))
            .isEqualTo("You can't edit the security object of the user database.");
      }
    }

    private static String user(String name, String password, String roles) {
      return json("{'type':'user','name':'%s','password':'%s','roles':[%s]}")
          .formatted(name, password, roles);
    }

    private Answer asRoot(String method, String target, String json) {
      return as("root", "secret", method, target, json);
    }

    private Answer as(String name, String password, String method, String target, String json) {
      Request request = request(name, password, method, target);
      return (json.isEmpty() ? request : request.json(json)).send();
    }

    private Request request(String name, String password, String method, String target) {
      return server.request(method, target, "Authorization", basic(name + ":" + password));
    }

    private static String basic(String credentials) {
      return "Basic "
          + Base64.getEncoder().encodeToString(credentials.getBytes(StandardCharsets.UTF_8));
    }

    private LectusServer start(int iterations, int requestSeconds) {
      Store store = stores.fresh();
      new Admins(store).put("root", Admins.hashOf("secret", QUICK));
      LectusServer server =
          LectusServer.start(
              store,
              new TestSettings()
                  .with(AccountKeys.HASH_ITERATIONS, iterations)
                  .with(HttpKeys.REQUEST_SECONDS, requestSeconds));
      request(server, "root:secret", "PUT", "/_users").send().expect(201);
      return server;
    }

    @Test
    void an_import_delays_nobody_and_ends_when_its_client_leaves() {
      try (LectusServer server = start(200_000, 10)) {
        request(server, "root:secret", "PUT", "/_users/org.couchdb.user:anna")
            .json(hashedUser("anna", Admins.hashOf("apple", QUICK)))
            .send()
            .expect(201);
        try (Connection client =
            request(server, "root:secret", "POST", "/_users/_bulk_docs")
                .json(users(5_000))
                .open()) {
          Await.until("passwords are hashed", Documents::isHashing);
          Answer session = request(server, "anna:apple", "GET", "/_session").send();
          assertThat(session.body()).contains("\"name\":\"anna\"");
          assertThat(isHashing()).isTrue();
        }
        Await.until("no more passwords are hashed", () -> !isHashing());
        request(server, "root:secret", "GET", "/_users/org.couchdb.user:n0").send().expect(404);
      }
    }

    @Test
    void an_import_may_take_longer_than_a_request_may_wait() {
      try (LectusServer server = start(100_000, 1)) {
        Answer imported =
            request(server, "root:secret", "POST", "/_users/_bulk_docs")
                .json(users(5))
                .send()
                .expect(201);
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
      String basic =
          Base64.getEncoder().encodeToString(credentials.getBytes(StandardCharsets.UTF_8));
      return server.request(method, target, "Authorization", "Basic " + basic);
    }
  }

  /** What users see of each other's documents with {@code access.public-fields}. */
  @Nested
  class PublicFields {
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
      String basic =
          Base64.getEncoder().encodeToString(credentials.getBytes(StandardCharsets.UTF_8));
      Request request = server.request(method, target, "Authorization", "Basic " + basic);
      return json.isEmpty() ? request.send() : request.json(json).send();
    }
  }

  /** Bodies whose bytes arrive before the server knows who sends them. */
  @Nested
  class UploadsBehindLogIn {
    private static final int SLOW_HASH = 50_000;

    @AutoClose private LectusServer server;

    @BeforeEach
    void start() {
      Store store = stores.fresh();
      new Admins(store).put("root", Admins.hashOf("secret", 1));
      new Admins(store).put("ann", Admins.hashOf("apple", SLOW_HASH));
      server = LectusServer.start(store, new TestSettings());
      as("root:secret", "PUT", "/w").send().expect(201);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 90_001, 1_000_000})
    void all_bytes_are_stored(int length) {
      byte[] bytes = new byte[length];
      for (int at = 0; at < length; at++) {
        bytes[at] = (byte) (at % 251);
      }
      Answer put = as("ann:apple", "PUT", "/w/a/f").body(bytes).send();
      assertThat(put.status()).as(put.body()).isEqualTo(201);
      String digest = Md5.of(Digests.md5().digest(bytes)).digest();
      assertThat(as("root:secret", "GET", "/w/a").send().body())
          .contains("\"digest\":\"" + digest + "\",\"length\":" + length + ",");
    }

    /** Nobody has begun to read it when the parser finds that it is none. */
    @Test
    void a_chunked_body_that_is_none_is_400() {
      String basic = basic("ann:apple");
      try (Connection client = server.connect()) {
        client.write(
            "PUT /w/b HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                + ("Authorization: " + basic + "\r\nTransfer-Encoding: chunked\r\n\r\n")
                + "2\r\n{}\r\nx\r\n");
        client.read(false).expect(400);
      }
      as("root:secret", "GET", "/w/b").send().expect(404);
    }

    private Request as(String credentials, String method, String target) {
      return server.request(method, target, "Authorization", basic(credentials));
    }

    private static String basic(String credentials) {
      byte[] utf8 = credentials.getBytes(StandardCharsets.UTF_8);
      return "Basic " + Base64.getEncoder().encodeToString(utf8);
    }
  }
}
