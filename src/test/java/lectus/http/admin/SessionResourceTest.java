package lectus.http.admin;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import lectus.http.testing.Request;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Log-ins where there is no admin: who brings a name and a password is that user or nobody. */
final class SessionResourceTest {
  private static final String FORM = "application/x-www-form-urlencoded";
  private static final String COOKIE = "AuthSession=[A-Za-z0-9_-]+; Version=1; .*";
  private static final String NO_COOKIE = "AuthSession=; Version=1; .*";

  @RegisterExtension static final TestStores stores = new TestStores();

  private final LectusServer server = LectusServer.start(stores.fresh());

  @AfterEach
  void stop() {
    server.close();
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
    assertThat(server.put("/_users/" + id, user.formatted(name)).status()).isEqualTo(201);
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
    assertThat(logIn(type, body).status()).isEqualTo(401);
    addUser(name);
    Answer answer = logIn(type, body);
    assertThat(answer.status()).isEqualTo(200);
    assertThat(answer.body())
        .isEqualTo("{\"ok\":true,\"name\":\"" + name + "\",\"roles\":[\"a\"]}\n");
    assertThat(answer.header("set-cookie")).matches(COOKIE);
    assertThat(answer.header("cache-control")).isEqualTo("must-revalidate");
    Answer wrong = logIn(type, body.replace("%26", "x").replace("&=\"", "x\""));
    assertThat(wrong.status()).isEqualTo(401);
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
    Answer answer = logIn(type, body);

    assertThat(answer.status()).isEqualTo(400);
    assertThat(answer.member("error")).isEqualTo("bad_request");
    assertThat(answer.member("reason")).contains(reason);
    assertThat(answer.headers()).doesNotContainKey("set-cookie");
  }

  @Test
  void other_content_types_are_415() {
    for (String type : new String[] {"text/plain", null}) {
      Answer answer = logIn(type, "name=jan");
      assertThat(answer.status()).isEqualTo(415);
      assertThat(answer.body())
          .isEqualTo(
              "{\"error\":\"bad_content_type\",\"reason\":\"Content-Type must be"
                  + " 'application/x-www-form-urlencoded' or 'application/json'\"}\n");
    }
  }

  @Test
  void names_and_bodies_are_bounded() {
    assertThat(logIn(FORM, "name=" + "n".repeat(512)).status()).isEqualTo(401);
    Answer tooLong = logIn(FORM, "name=" + "n".repeat(513));
    assertThat(tooLong.status()).isEqualTo(400);
    assertThat(tooLong.member("reason")).isEqualTo("A username has 512 bytes of UTF-8 at most.");
    assertThat(logIn(FORM, "name=" + "%C3%BC".repeat(257)).status()).isEqualTo(400);
    String start = "name=a&password=";
    int room = (16 << 10) - start.length();
    assertThat(logIn(FORM, start + "p".repeat(room)).status()).isEqualTo(401);
    assertThat(logIn(FORM, start + "p".repeat(room + 1)).status()).isEqualTo(413);
  }

  @Test
  void the_session_is_of_whoever_logged_in() {
    assertThat(server.get("/_session").body()).contains("\"name\":null,\"roles\":[\"_admin\"]");
    addUser("jürgen");
    String cookie = logIn(FORM, "name=j%C3%BCrgen&password=%26%3D").header("set-cookie");

    String shown = cookie.substring(0, cookie.indexOf(';'));
    Answer session = server.request("GET", "/_session").header("Cookie", shown).send();
    assertThat(session.body()).contains("\"name\":\"jürgen\",\"roles\":[\"a\"]");
  }

  @Test
  void logging_out_takes_the_cookie_away() {
    Answer answer = server.delete("/_session");

    assertThat(answer.status()).isEqualTo(200);
    assertThat(answer.body()).isEqualTo("{\"ok\":true}\n");
    assertThat(answer.header("set-cookie")).matches(NO_COOKIE);
  }

  @Test
  void a_form_goes_on_to_a_path_of_this_server() {
    addUser("a");
    Answer in =
        server
            .request("POST", "/_session?next=/_utils/%23x")
            .header("Content-Type", FORM)
            .body("name=a&password=%26%3D".getBytes(StandardCharsets.UTF_8))
            .send();
    assertThat(in.status()).isEqualTo(302);
    assertThat(in.header("location")).isEqualTo("http://host/_utils/#x");
    assertThat(in.header("set-cookie")).matches(COOKIE);
    assertThat(in.body()).startsWith("{\"ok\":true,\"name\":\"a\"");
    Answer out = server.delete("/_session?next=/x");
    assertThat(out.status()).isEqualTo(302);
    assertThat(out.header("location")).isEqualTo("http://host/x");
    assertThat(out.header("set-cookie")).matches(NO_COOKIE);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"x", "", "@elsewhere/", ".elsewhere/", "/%0d%0aX:%20y", "/%C3%BC", "/a%20b"})
  void it_goes_nowhere_else(String next) {
    Answer answer = server.delete("/_session?next=" + next);

    assertThat(answer.status()).isEqualTo(400);
    assertThat(answer.body())
        .isEqualTo("{\"error\":\"bad_request\",\"reason\":\"path must begin with a /.\"}\n");
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
    Answer session = server.request("GET", "/_session").header(header, value).send();
    assertThat(session.body()).contains("\"name\":null,\"roles\":[\"_admin\"]");
    assertThat(session.headers()).doesNotContainKey("set-cookie");
    assertThat(server.request("PUT", "/w").header(header, value).send().status()).isEqualTo(201);
  }

  @ParameterizedTest
  @ValueSource(strings = {"/", "/_session", "/_all_dbs", "/_up"})
  void a_wrong_name_and_password_is_refused_whatever_is_asked_for(String path) {
    addUser("jan");
    for (String pair : new String[] {"eve:x", "jan:x"}) {
      assertThat(basic(path, pair).status()).isEqualTo(401);
    }
    assertThat(basic(path, "jan:&=").status()).isEqualTo(path.equals("/_all_dbs") ? 401 : 200);
    assertThat(server.get(path).status()).isEqualTo(200);
  }

  private Answer basic(String path, String pair) {
    String encoded = Base64.getEncoder().encodeToString(pair.getBytes(StandardCharsets.UTF_8));
    return server.request("GET", path).header("Authorization", "Basic " + encoded).send();
  }
}
