package lectus.http.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import lectus.http.testing.Request;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The requests of set-up scripts, dashboards and people with a browser. */
final class SetupResourcesTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  @AutoClose private final LectusServer server = LectusServer.start(stores.fresh());
  private static final String FORM = "application/x-www-form-urlencoded";
  private static final String COOKIE = "AuthSession=[A-Za-z0-9_-]+; Version=1; .*";
  private static final String NO_COOKIE = "AuthSession=; Version=1; .*";

  @Test
  void set_up_makes_the_databases_of_the_system_and_the_admin_that_is_named() {
    assertThat(state("")).isEqualTo("single_node_disabled");
    assertThat(state("?ensure_dbs_exist=[]")).isEqualTo("single_node_enabled");
    server.put("/_users", "");
    assertThat(state("?ensure_dbs_exist=[\"_users\"]")).isEqualTo("single_node_enabled");
    assertThat(state("")).isEqualTo("single_node_disabled");

    server
        .post(
            "/_cluster_setup",
            "{\"action\":\"enable_single_node\",\"username\":\"ann\",\"password\":\"x\","
                + "\"bind_address\":\"0.0.0.0\",\"port\":5984,\"singlenode\":true}")
        .expect(201, "{\"ok\":true}\n");
    server.get("/_all_dbs").expect(401);
    asAnn("GET", "/_all_dbs").send().expect("[\"_replicator\",\"_users\"]\n");
    assertThat(asAnn("GET", "/_cluster_setup").send().member("state"))
        .isEqualTo("single_node_enabled");
    asAnn("POST", "/_cluster_setup")
        .json("{\"action\":\"finish_cluster\",\"ensure_dbs_exist\":[\"more\"]}")
        .send()
        .expect(201);
    asAnn("GET", "/more").send().expect(200);
  }

  private String state(String query) {
    return server.get("/_cluster_setup" + query.replace("\"", "%22")).member("state");
  }

  private Request asAnn(String method, String target) {
    return server.request(method, target, "Authorization", "Basic YW5uOng=");
  }

  @Test
  void what_is_no_set_up_is_refused() {
    for (String names : new String[] {"5", "[5]", "{}"}) {
      assertThat(
              server
                  .get("/_cluster_setup?ensure_dbs_exist=" + names.replace("{}", "%7B%7D"))
                  .member("reason"))
          .isEqualTo("ensure_dbs_exist must be a list of names of databases.");
    }
    assertThat(server.get("/_cluster_setup?ensure_dbs_exist=[%22No%22]").member("error"))
        .isEqualTo("illegal_database_name");
    server.head("/_cluster_setup").expect(200);
    server.request("POST", "/_cluster_setup").body(new byte[0]).send().expect(415);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      textBlock =
          """
          {"action":"enable_single_node","password":"x"} | Cluster is already finished
          {"action":"finish_cluster"}                    | Cluster is already finished
          {"action":"enable_cluster"}                    | Cluster is already enabled
          {"action":"add_node"}     | Servers join a cluster by their configuration.
          {"action":"nope"}                              | Invalid Action'
          {"action":5}                                   | Invalid Action'
          {}                                             | Invalid Action'
          []                                             | Request body must be a JSON object
          """)
  void a_set_up_is_finished_already(String body, String reason) {
    server.put("/_users", "");
    server.put("/_replicator", "");

    server
        .post("/_cluster_setup", body)
        .expect(400, "{\"error\":\"bad_request\",\"reason\":\"" + reason + "\"}\n");
  }

  @Test
  void bodies_of_set_up_scripts_are_bounded() {
    String start = "{\"action\":\"nope\",\"x\":\"";
    int room = (16 << 10) - start.length() - "\"}".length();

    server.post("/_cluster_setup", start + "x".repeat(room) + "\"}").expect(400);
    server.post("/_cluster_setup", start + "x".repeat(room + 1) + "\"}").expect(413);
  }

  @Test
  void a_server_tells_its_name() {
    String name = "lectus@127.0.0.1:" + server.port();
    String answer = "{\"name\":\"" + name + "\"}\n";

    server.get("/_node/_local").expect(answer);
    server.post("/_node/_local", "{}").expect(answer);
    server.get("/_node/" + name).expect(answer);
    assertThat(server.get("/_membership").body()).contains("[\"" + name + "\"]");
    for (String usual : List.of("nonode@nohost", "couchdb@127.0.0.1", "couchdb@localhost")) {
      server.get("/_node/" + usual).expect(answer);
      server.get("/_node/" + usual + "/_config/couchdb/single_node").expect("\"true\"\n");
    }
    server
        .get("/_node/nope")
        .expect("{\"error\":\"not_found\",\"reason\":\"no such node: nope\"}\n");
    server
        .get("/_node")
        .expect("{\"error\":\"bad_request\",\"reason\":\"Incomplete path to _node request\"}\n");
  }

  @Test
  void a_browser_is_led_to_the_dashboard() {
    Answer answer =
        server
            .request(
                "GET",
                "/",
                "Accept",
                "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8")
            .send()
            .expect(302);
    assertThat(answer.header("location")).isEqualTo("_lectus/");
    for (String other :
        List.of(
            "*/*",
            "application/json, text/html",
            "text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2")) {
      assertThat(server.request("GET", "/", "Accept", other).send().member("couchdb"))
          .isEqualTo("Welcome");
    }
  }

  @ParameterizedTest
  @CsvSource({"/_scheduler/jobs", "/_scheduler/jobs?limit=5&skip=0", "/_scheduler/jobs?limit=%2B5"})
  void no_replication_runs(String target) {
    server.get(target).expect("{\"total_rows\":0,\"offset\":0,\"jobs\":[]}\n");
  }

  @ParameterizedTest
  @CsvSource({
    "/_scheduler/docs",
    "/_scheduler/docs?limit=5",
    "/_scheduler/docs/_replicator",
    "/_scheduler/docs/a%2F_replicator",
    "/_scheduler/docs/a/_replicator"
  })
  void no_document_asks_for_a_replication(String target) {
    server.get(target).expect("{\"total_rows\":0,\"offset\":0,\"docs\":[\r\n\r\n]}\n");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      textBlock =
          """
          /_scheduler                    | 404 | not_found         | missing
          /_scheduler/x                  | 404 | not_found         | missing
          /_scheduler/jobs/x             | 404 | not_found         | missing
          /_scheduler/docs/_replicator/x | 404 | not_found         | missing
          /_scheduler/docs/x             | 400 | bad_request       | Invalid path
          /_scheduler/docs/x/y           | 400 | bad_request       | Invalid path
          /_scheduler/jobs?limit=x       | 400 | query_parse_error | limit must be an integer
          /_scheduler/jobs?skip=-1       | 400 | query_parse_error | skip not in range of [0,infinity]
          /_scheduler/docs?limit=x | 400 | query_parse_error | Invalid value for integer: \\"x\\"
          """)
  void what_else_is_asked_of_the_scheduler(String target, int status, String error, String reason) {
    server
        .get(target)
        .expect(status, "{\"error\":\"" + error + "\",\"reason\":\"" + reason + "\"}\n");
  }

  @Test
  void whoever_looks_for_fauxton_is_told_where_it_is() {
    Answer redirected = server.get("/_utils").expect(301);
    assertThat(redirected.header("location")).isEqualTo("http://host/_utils/");

    Answer absent = server.get("/_utils/").expect(404);
    assertThat(absent.member("error")).isEqualTo("not_found");
    assertThat(absent.member("reason")).contains("npm pack fauxton").contains("--utils");
    server.get("/_utils/index.html").expect(404);
  }

  private Answer logIn(String type, String body) {
    Request request = server.request("POST", "/_session");
    if (type != null) {
      request.header("Content-Type", type);
    }
    return request.body(body.getBytes(StandardCharsets.UTF_8)).send();
  }

  private void addUser(String name) {
    server.put("/_users");
    String user = "{\"name\":\"%s\",\"type\":\"user\",\"roles\":[\"a\"],\"password\":\"&=\"}";
    String id = URLEncoder.encode("org.couchdb.user:" + name, StandardCharsets.UTF_8);
    server.put("/_users/" + id, user.formatted(name)).expect(201);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      textBlock =
          """
          application/x-www-form-urlencoded | name=jan&password=%26%3D             | jan
          application/x-www-form-urlencoded | username=jan&password=%26%3D         | jan
          application/x-www-form-urlencoded | name=j%C3%BCrgen+x&password=%26%3D   | jürgen x
          application/x-www-form-urlencoded; charset=utf-8 | name=jan&password=%26%3D | jan
          application/json                  | {"name":"jan","password":"&="}       | jan
          application/json; charset=utf-8   | {"username":"a b","password":"&="}   | a b
          """)
  void a_user_logs_in_and_nobody_else_does(String type, String body, String name) {
    logIn(type, body).expect(401);
    addUser(name);
    Answer answer =
        logIn(type, body)
            .expect(200, "{\"ok\":true,\"name\":\"" + name + "\",\"roles\":[\"a\"]}\n");
    assertThat(answer.header("set-cookie")).matches(COOKIE);
    assertThat(answer.header("cache-control")).isEqualTo("must-revalidate");
    Answer wrong = logIn(type, body.replace("%26", "x").replace("&=\"", "x\"")).expect(401);
    assertThat(wrong.header("set-cookie")).matches(NO_COOKIE);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      textBlock =
          """
          application/x-www-form-urlencoded | password=x     | must contain a username
          application/x-www-form-urlencoded | ~~             | must contain a username
          application/x-www-form-urlencoded | name=a&username=b | different usernames
          application/x-www-form-urlencoded | name=%FF       | not UTF-8
          application/json | {"password":"x"}                | must contain a username
          application/json | {"name":"a","username":"b"}     | different usernames
          application/json | {"name":5}                      | is a string
          application/json | []                              | must be a JSON object
          application/json | x                               | Invalid JSON
          """)
  void who_it_is_has_to_be_said(String type, String body, String reason) {
    Answer answer = logIn(type, body).expect(400);
    assertThat(answer.member("error")).isEqualTo("bad_request");
    assertThat(answer.member("reason")).contains(reason);
    assertThat(answer.headers()).doesNotContainKey("set-cookie");
  }

  @Test
  void other_content_types_are_415() {
    for (String type : new String[] {"text/plain", null}) {
      logIn(type, "name=jan")
          .expect(
              415,
              "{\"error\":\"bad_content_type\",\"reason\":\"Content-Type must be"
                  + " 'application/x-www-form-urlencoded' or 'application/json'\"}\n");
    }
  }

  @Test
  void names_and_bodies_are_bounded() {
    logIn(FORM, "name=" + "n".repeat(512)).expect(401);
    Answer tooLong = logIn(FORM, "name=" + "n".repeat(513)).expect(400);
    assertThat(tooLong.member("reason")).isEqualTo("A username has 512 bytes of UTF-8 at most.");
    logIn(FORM, "name=" + "%C3%BC".repeat(257)).expect(400);
    String start = "name=a&password=";
    int room = (16 << 10) - start.length();
    logIn(FORM, start + "p".repeat(room)).expect(401);
    logIn(FORM, start + "p".repeat(room + 1)).expect(413);
  }

  @Test
  void the_session_is_of_whoever_logged_in() {
    assertThat(server.get("/_session").body()).contains("\"name\":null,\"roles\":[\"_admin\"]");
    addUser("jürgen");
    String cookie = logIn(FORM, "name=j%C3%BCrgen&password=%26%3D").header("set-cookie");

    String shown = cookie.substring(0, cookie.indexOf(';'));
    Answer session = server.request("GET", "/_session", "Cookie", shown).send();
    assertThat(session.body()).contains("\"name\":\"jürgen\",\"roles\":[\"a\"]");
  }

  @Test
  void logging_out_takes_the_cookie_away() {
    Answer answer = server.delete("/_session").expect(200, "{\"ok\":true}\n");
    assertThat(answer.header("set-cookie")).matches(NO_COOKIE);
  }

  @Test
  void a_form_goes_on_to_a_path_of_this_server() {
    addUser("a");
    Answer in =
        server
            .request("POST", "/_session?next=/_utils/%23x", "Content-Type", FORM)
            .body("name=a&password=%26%3D".getBytes(StandardCharsets.UTF_8))
            .send()
            .expect(302);
    assertThat(in.header("location")).isEqualTo("http://host/_utils/#x");
    assertThat(in.header("set-cookie")).matches(COOKIE);
    assertThat(in.body()).startsWith("{\"ok\":true,\"name\":\"a\"");
    Answer out = server.delete("/_session?next=/x").expect(302);
    assertThat(out.header("location")).isEqualTo("http://host/x");
    assertThat(out.header("set-cookie")).matches(NO_COOKIE);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"x", "", "@elsewhere/", ".elsewhere/", "/%0d%0aX:%20y", "/%C3%BC", "/a%20b"})
  void it_goes_nowhere_else(String next) {
    server
        .delete("/_session?next=" + next)
        .expect(400, "{\"error\":\"bad_request\",\"reason\":\"path must begin with a /.\"}\n");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          Authorization | Basic amFu
          Authorization | Bearer x.y.z
          Authorization | Nonsense
          Cookie        | a=b
          Cookie        | =;;
          """)
  void who_brings_no_name_and_password_is_an_admin(String header, String value) {
    Answer session = server.request("GET", "/_session", header, value).send();
    assertThat(session.body()).contains("\"name\":null,\"roles\":[\"_admin\"]");
    assertThat(session.headers()).doesNotContainKey("set-cookie");
    server.request("PUT", "/w", header, value).send().expect(201);
  }

  @ParameterizedTest
  @ValueSource(strings = {"/", "/_session", "/_all_dbs", "/_up"})
  void a_wrong_name_and_password_is_refused_whatever_is_asked_for(String path) {
    addUser("jan");
    for (String pair : new String[] {"eve:x", "jan:x"}) {
      basic(path, pair).expect(401);
    }
    basic(path, "jan:&=").expect(path.equals("/_all_dbs") ? 401 : 200);
    server.get(path).expect(200);
  }

  private Answer basic(String path, String pair) {
    String encoded = Base64.getEncoder().encodeToString(pair.getBytes(StandardCharsets.UTF_8));
    return server.request("GET", path, "Authorization", "Basic " + encoded).send();
  }
}
