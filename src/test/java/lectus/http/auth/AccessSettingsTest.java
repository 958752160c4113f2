package lectus.http.auth;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import lectus.config.AccessKeys;
import lectus.http.testing.Answer;
import lectus.http.testing.Bearer;
import lectus.http.testing.Connection;
import lectus.http.testing.LectusServer;
import lectus.http.testing.Request;
import lectus.http.testing.TestSettings;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** What an administrator may decide about users, on servers with an admin. */
final class AccessSettingsTest {
  private static final String REQUIRED =
      "{\"error\":\"unauthorized\",\"reason\":\"Authentication required.\"}\n";

  private static final String ROOT = Bearer.of("root", "_admin");
  private static final String JAN = Bearer.of("jan", "readers");

  @RegisterExtension static final TestStores stores = new TestStores();

  @TempDir Path folder;

  private LectusServer start(TestSettings settings) throws IOException {
    Path keys = Files.writeString(folder.resolve("keys"), Bearer.KEYS);
    LectusServer server =
        LectusServer.start(stores.fresh(), settings.with(AccessKeys.JWT_KEYS, keys));
    Request admin = server.request("PUT", "/_node/_local/_config/admins/root");
    admin.header("Authorization", ROOT).json("\"secret\"").send();
    return server;
  }

  private static Answer as(String user, LectusServer server, String method, String target) {
    return server.request(method, target, "Authorization", user).send();
  }

  private static Answer asRoot(LectusServer server, String method, String target, String json) {
    return server.request(method, target, "Authorization", ROOT).json(json).send();
  }

  @Test
  void nobody_may_do_anything_without_a_log_in() throws Exception {
    TestSettings settings =
        new TestSettings().with(AccessKeys.REQUIRE_VALID_USER, true).allowing("https://a.example");
    try (LectusServer server = start(settings)) {
      for (String path : List.of("/", "/_up", "/_session", "/absent", "/_utils", "/_uuids")) {
        Answer answer = server.get(path);
        assertThat(answer.status()).as(path).isEqualTo(401);
        answer.expect(REQUIRED);
        assertThat(answer.header("www-authenticate")).isEqualTo("Basic realm=\"server\"");
        assertThat(as(JAN, server, "GET", path).status()).isNotEqualTo(401);
      }
      assertThat(server.post("/_session", "{\"name\":\"x\",\"password\":\"y\"}").body())
          .contains("Name or password is incorrect.");
      Answer preflight =
          server
              .request(
                  "OPTIONS",
                  "/db",
                  "Origin",
                  "https://a.example",
                  "Access-Control-Request-Method",
                  "PUT",
                  "Access-Control-Request-Headers",
                  "authorization")
              .send()
              .expect(204);
      assertThat(preflight.header("access-control-allow-headers")).isEqualTo("authorization");
    }
  }

  @Test
  void load_balancers_may_be_an_exception() throws Exception {
    try (LectusServer server =
        start(new TestSettings().with(AccessKeys.REQUIRE_VALID_USER_EXCEPT_FOR_UP, true))) {
      server.get("/_up").expect(200);
      server.get("/").expect(REQUIRED);
    }
    try (LectusServer server =
        start(
            new TestSettings()
                .with(AccessKeys.REQUIRE_VALID_USER, true)
                .with(AccessKeys.REQUIRE_VALID_USER_EXCEPT_FOR_UP, true))) {
      server.get("/_up").expect(200);
      server.get("/").expect(REQUIRED);
    }
  }

  @Test
  void databases_may_be_everybodys_until_they_are_secured() throws Exception {
    try (LectusServer server =
        start(new TestSettings().with(AccessKeys.DEFAULT_SECURITY, "everyone"))) {
      asRoot(server, "PUT", "/open", "");
      server.get("/open/_security").expect("{}\n");
      server.put("/open/doc", "{}").expect(201);
      server.put("/open/_design/x", "{}").expect(401);

      asRoot(server, "PUT", "/open/_security", "{\"members\":{\"roles\":[\"readers\"]}}");

      server.get("/open").expect(401);
      as(JAN, server, "GET", "/open").expect(200);
      as(Bearer.of("eve", ""), server, "GET", "/open").expect(403);
    }
  }

  @Test
  void a_security_object_has_lists_of_strings() throws Exception {
    try (LectusServer server = start(new TestSettings())) {
      asRoot(server, "PUT", "/db", "");
      String before = as(ROOT, server, "GET", "/db/_security").body();
      for (String json :
          List.of(
              "{\"admins\":{\"names\":[5]}}",
              "{\"members\":{\"roles\":\"x\"}}",
              "{\"members\":[]}",
              "{\"readers\":{\"names\":{}}}",
              "[]",
              "x")) {
        assertThat(asRoot(server, "PUT", "/db/_security", json).status()).as(json).isEqualTo(400);
      }
      assertThat(as(ROOT, server, "GET", "/db/_security").body()).isEqualTo(before);
    }
  }

  @Test
  void design_documents_are_written_by_admins_however_they_come() throws Exception {
    try (LectusServer server = start(new TestSettings())) {
      asRoot(server, "PUT", "/db", "");
      asRoot(server, "PUT", "/db/_security", "{\"members\":{\"names\":[\"jan\"]}}");
      String design = "{\"_id\":\"_design/x\"}";

      server.request("POST", "/db", "Authorization", JAN).json(design).send().expect(403);
      Answer bulk =
          server
              .request("POST", "/db/_bulk_docs", "Authorization", JAN)
              .json("{\"docs\":[" + design + ",{\"_id\":\"a\"}]}")
              .send();
      assertThat(bulk.body())
          .contains("\"id\":\"_design/x\",\"error\":\"forbidden\"", "\"ok\":true,\"id\":\"a\"");
      Answer replicated =
          server
              .request("POST", "/db/_bulk_docs", "Authorization", JAN)
              .json("{\"new_edits\":false,\"docs\":[{\"_id\":\"_design/x\",\"_rev\":\"1-a\"}]}")
              .send();
      assertThat(replicated.body()).contains("forbidden");
      server
          .request("COPY", "/db/a", "Authorization", JAN, "Destination", "_design/x")
          .send()
          .expect(403);
      as(ROOT, server, "GET", "/db/_design/x").expect(404);
    }
  }

  @Test
  void everybody_may_list_what_he_may_read() throws Exception {
    try (LectusServer server =
        start(new TestSettings().with(AccessKeys.ADMIN_ONLY_ALL_DBS, false))) {
      for (String name : List.of("a", "b", "c", "d", "e")) {
        asRoot(server, "PUT", "/" + name, "");
      }
      asRoot(server, "PUT", "/b/_security", "{\"members\":{\"roles\":[\"readers\"]}}");
      asRoot(server, "PUT", "/d/_security", "{\"members\":{\"names\":[\"jan\"]}}");
      asRoot(server, "PUT", "/e/_security", "{}");

      server.get("/_all_dbs").expect("[\"e\"]\n");
      assertThat(as(JAN, server, "GET", "/_all_dbs").body()).isEqualTo("[\"b\",\"d\",\"e\"]\n");
      assertThat(as(ROOT, server, "GET", "/_all_dbs").body())
          .isEqualTo("[\"a\",\"b\",\"c\",\"d\",\"e\"]\n");
      assertThat(as(JAN, server, "GET", "/_all_dbs?descending=true&limit=1&skip=1").body())
          .isEqualTo("[\"d\"]\n");
      assertThat(as(JAN, server, "GET", "/_all_dbs?startkey=%22c%22").body())
          .isEqualTo("[\"d\",\"e\"]\n");
      assertThat(as(JAN, server, "GET", "/_all_dbs?limit=0").body()).isEqualTo("[]\n");
      assertThat(as(JAN, server, "GET", "/_dbs_info").body())
          .contains("{\"key\":\"b\",\"info\":{", "{\"key\":\"d\",\"info\":{")
          .doesNotContain("\"a\"", "\"c\"");
      Answer some =
          server
              .request("POST", "/_dbs_info", "Authorization", JAN)
              .json("{\"keys\":[\"a\",\"absent\",\"b\"]}")
              .send();
      assertThat(some.body())
          .startsWith(
              "[{\"key\":\"a\",\"error\":\"not_found\"},{\"key\":\"absent\",\"error\":\"not_found\"},"
                  + "{\"key\":\"b\",\"info\":{");
    }
  }

  @Test
  void lists_go_on_over_what_nobody_may_read() throws Exception {
    try (LectusServer server =
        start(new TestSettings().with(AccessKeys.ADMIN_ONLY_ALL_DBS, false))) {
      List<String> names = new ArrayList<>();
      for (int i = 0; i < 203; i++) {
        names.add("d%04d".formatted(i));
        asRoot(server, "PUT", "/" + names.get(i), "");
      }
      for (int i : new int[] {0, 99, 100, 101, 200, 202}) {
        asRoot(server, "PUT", "/" + names.get(i) + "/_security", "{}");
      }
      String all = "[\"d0000\",\"d0099\",\"d0100\",\"d0101\",\"d0200\",\"d0202\"]\n";
      server.get("/_all_dbs").expect(all);
      server
          .get("/_all_dbs?descending=true&skip=2")
          .expect("[\"d0101\",\"d0100\",\"d0099\",\"d0000\"]\n");
    }
  }

  @Test
  void one_user_may_ask_so_often_a_second() throws Exception {
    try (LectusServer server =
            start(new TestSettings().with(AccessKeys.MAX_REQUESTS_PER_SECOND, 5));
        Connection connection = server.connect()) {
      List<Integer> statuses = new ArrayList<>();
      for (int i = 0; i < 200; i++) {
        connection.write(server.request("GET", "/", "Authorization", JAN).bytes());
        Answer answer = connection.read(false);
        statuses.add(answer.status());
        if (answer.status() == 429) {
          assertThat(answer.header("retry-after")).isEqualTo("1");
          answer.expect(
              "{\"error\":\"too_many_requests\",\"reason\":\"A user may have 5 requests a"
                  + " second.\"}\n");
        }
      }
      assertThat(statuses.subList(0, 5)).containsOnly(200);
      assertThat(statuses).contains(429);
      as(Bearer.of("eve", ""), server, "GET", "/").expect(200);
    }
  }

  @Test
  void one_user_may_have_so_many_connections() throws Exception {
    try (LectusServer server = start(new TestSettings().with(AccessKeys.MAX_USER_CONNECTIONS, 2))) {
      byte[] request = server.request("GET", "/", "Authorization", JAN).bytes();
      try (Connection one = server.connect().write(request);
          Connection two = server.connect().write(request)) {
        one.read(false).expect(200);
        two.read(false).expect(200);
        as(JAN, server, "GET", "/").expect(429);
        one.write(request).read(false).expect(200);
        as(Bearer.of("eve", ""), server, "GET", "/").expect(200);
      }
      Answer later = as(JAN, server, "GET", "/");
      for (int i = 0; i < 1_000 && later.status() != 200; i++) {
        later = as(JAN, server, "GET", "/"); // until the server has heard that they are closed
      }
      later.expect(200);
    }
  }

  @Test
  void admins_are_kept_through_the_configuration() throws Exception {
    try (LectusServer server = start(new TestSettings())) {
      String admins = "/_node/_local/_config/admins";
      assertThat(asRoot(server, "PUT", admins + "/ann", "\"one\"").body()).isEqualTo("\"\"\n");
      String hash = as(ROOT, server, "GET", admins + "/ann").body();
      assertThat(hash).startsWith("\"-pbkdf2").doesNotContain("one\"");
      assertThat(as(ROOT, server, "GET", admins).body())
          .contains("\"ann\":" + hash.strip(), "\"root\":\"-pbkdf2");
      assertThat(asRoot(server, "PUT", admins + "/ann", "\"two\"").body()).isEqualTo(hash);
      String ann = "Basic " + Base64.getEncoder().encodeToString(bytes("ann:two"));
      as(ann, server, "GET", "/_all_dbs").expect(200);
      as(ROOT, server, "DELETE", admins + "/ann").expect(200);
      as(ann, server, "GET", "/_all_dbs").expect(401);
      Answer absent = as(ROOT, server, "DELETE", admins + "/ann").expect(404);
      assertThat(absent.member("reason")).isEqualTo("unknown_config_value");
      asRoot(server, "PUT", admins + "/ann", "5").expect(400);
      asRoot(server, "PUT", admins + "/a:b", "\"x\"").expect(400);
      asRoot(server, "PUT", "/_node/other/_config/admins/x", "\"x\"").expect(404);
    }
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** What browsers say of a page of another origin, and send without asking first. */
  @Test
  void pages_of_other_origins_write_nothing() throws Exception {
    try (LectusServer server =
        LectusServer.start(stores.fresh(), new TestSettings().allowing("https://a.example"))) {
      for (String site : List.of("cross-site", "same-site")) {
        Request form =
            server
                .request(
                    "POST",
                    "/_session",
                    "Sec-Fetch-Site",
                    site,
                    "Origin",
                    "https://evil.example",
                    "Content-Type",
                    "application/x-www-form-urlencoded")
                .body(bytes("name=a"));
        form.send().expect(403);
        Request hidden = server.request("PUT", "/db", "Sec-Fetch-Site", site, "Origin", "null");
        hidden.send().expect(403);
        Request allowed =
            server.request(
                "PUT", "/w" + site, "Sec-Fetch-Site", site, "Origin", "https://a.example");
        allowed.send().expect(201);
      }
      for (String site : List.of("same-origin", "none")) {
        Request own = server.request("PUT", "/own" + site, "Sec-Fetch-Site", site);
        own.header("Origin", "http://host").send().expect(201);
      }
      server.get("/db").expect(404);
    }
  }

  /** Every route, asked for by everybody, against a table of what CouchDB 3.5 answers. */
  @Nested
  final class RouteRightsTest {
    @RegisterExtension static final TestStores stores = new TestStores();

    private static final String TABLE = "couchdb-3.5.txt";

    private static final List<String> ROLES = List.of("nobody", "eve", "jan", "ada", "root");

    private static final String SECURITY =
        "{\"admins\":{\"names\":[\"ada\"]},\"members\":{\"names\":[\"jan\"]}}";

    /** Names beside those of routes: filters of changes. */
    private static final Set<String> FILTERS = Set.of("_doc_ids", "_selector");

    /** What the table's words stand for. */
    private static final Map<String, String> REASONS =
        Map.of(
            "404", "404 Database does not exist.",
            "admin", "401 You are not a server admin.",
            "tidy", "401 You are not a server or db admin.",
            "user", "401 You are not an authenticated user",
            "stats", "401 You are not a server admin or read-only metrics user",
            "in", "401 You are not authorized to access this db.",
            "out", "403 You are not allowed to access this db.",
            "shape", "403 doc.type must be user",
            "owned", "403 You are not a db or server admin.");

    /** Where the names of routes stand. */
    private static final Pattern SOURCES =
        Pattern.compile(".*(Api|Routes|Resource|NodeConfig)\\.java");

    @TempDir Path folder;

    /**
     * @param answers by role, in the table's words
     */
    private record Row(String method, String path, Map<String, String> answers) {
      static Row of(String line) {
        String[] words = line.split("\\s+");
        Map<String, String> answers = new LinkedHashMap<>();
        for (int i = 0; i < ROLES.size(); i++) {
          answers.put(ROLES.get(i), words[i + 2]);
        }
        return new Row(words[0], words[1], answers);
      }
    }

    private static List<Row> table() throws IOException {
      try (InputStream in = RouteRightsTest.class.getResourceAsStream(TABLE)) {
        return new String(in.readAllBytes(), StandardCharsets.UTF_8)
            .lines()
            .filter(line -> !line.isBlank() && !line.startsWith("#"))
            .map(Row::of)
            .toList();
      }
    }

    private LectusServer withUsers() throws IOException {
      Path keys = Files.writeString(folder.resolve("keys"), Bearer.KEYS);
      LectusServer server =
          LectusServer.start(stores.fresh(), new TestSettings().with(AccessKeys.JWT_KEYS, keys));
      server.put("/_node/_local/_config/admins/root", "\"secret\"").expect(200);
      return server;
    }

    private static Request as(LectusServer server, String role, String method, String path) {
      Request request = server.request(method, path);
      return switch (role) {
        case "nobody" -> request;
        case "root" -> request.header("Authorization", Bearer.of("root", "_admin"));
        default -> request.header("Authorization", Bearer.of(role, ""));
      };
    }

    private static Answer send(LectusServer server, String role, Row row) {
      boolean hasBody = row.method().equals("PUT") || row.method().equals("POST");
      Request request = as(server, role, row.method(), row.path());
      // A document of a replication has to say of which.
      boolean isReplication = row.path().startsWith("/_replicator/");
      String json = isReplication ? "{\"source\":\"a\",\"target\":\"b\"}" : "{}";
      return (hasBody ? request.json(json) : request).send();
    }

    /** So that each row finds the same, whatever the one before did. */
    private static void prepare(LectusServer server) {
      for (String path : List.of("/db", "/_users", "/_replicator")) {
        as(server, "root", "PUT", path).send();
      }
      as(server, "root", "PUT", "/db/_security").json(SECURITY).send().expect(200);
    }

    /** Only the status can be told if the answer has no body. */
    private static String outcome(Answer answer, String wanted) {
      boolean isRefusal = answer.status() == 401 || answer.status() == 403;
      if (isRefusal && answer.body().isEmpty()) {
        return answer.status() + wanted.substring(wanted.indexOf(' '));
      }
      boolean isAbsence = answer.status() == 404 && answer.body().contains("Database does not");
      return isRefusal || isAbsence ? answer.status() + " " + answer.member("reason") : "-";
    }

    @Test
    void everybody_may_do_what_couchdb_lets_him_do() throws Exception {
      List<String> wrong = new ArrayList<>();
      try (LectusServer server = withUsers()) {
        for (Row row : table()) {
          prepare(server);
          row.answers()
              .forEach(
                  (role, expected) -> {
                    String wanted = REASONS.getOrDefault(expected, expected);
                    String found = outcome(send(server, role, row), wanted);
                    if (!found.equals(wanted)) {
                      wrong.add(
                          row.method()
                              + " "
                              + row.path()
                              + " as "
                              + role
                              + ": "
                              + found
                              + ", not "
                              + expected);
                    }
                  });
        }
      }
      assertThat(wrong).isEmpty();
    }

    @Test
    void where_there_is_no_admin_everybody_may_do_everything() throws Exception {
      List<String> refused = new ArrayList<>();
      try (LectusServer server = LectusServer.start(stores.fresh())) {
        server.put("/db");
        server.put("/db/_security", SECURITY);
        for (Row row : table()) {
          Answer answer = send(server, "nobody", row);
          if (answer.status() == 401 || answer.status() == 403) {
            refused.add(row.method() + " " + row.path() + ": " + answer.status());
          }
          if (row.path().contains("/_config/admins/x")) {
            server.request("DELETE", row.path()).send();
          }
        }
      }
      assertThat(refused).isEmpty();
    }

    @Test
    void the_table_has_every_route() throws Exception {
      Set<String> inTable =
          table().stream()
              .flatMap(row -> Arrays.stream(row.path().substring(1).split("/")))
              .collect(Collectors.toSet());
      Set<String> missing = new TreeSet<>(namesOfRoutes());
      assertThat(missing).contains("_all_docs", "_reload", "_up");
      missing.removeAll(inTable);
      missing.removeAll(FILTERS);
      assertThat(missing).isEmpty();
    }

    private static Set<String> namesOfRoutes() throws IOException {
      Set<String> names = new TreeSet<>();
      try (Stream<Path> files = Files.walk(Path.of("src/main/java/lectus/http"))) {
        for (Path file : files.filter(it -> SOURCES.matcher(it.toString()).matches()).toList()) {
          Pattern.compile("\"(_[a-z_]+)\"")
              .matcher(Files.readString(file))
              .results()
              .map(name -> name.group(1))
              .forEach(names::add);
        }
      }
      return names;
    }
  }
}
