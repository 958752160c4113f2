package lectus.http.node;

import static org.assertj.core.api.Assertions.assertThat;

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

/** Credentials that nothing needs: they are accepted, and change nothing. */
final class SessionResourceTest {
  private static final String FORM = "application/x-www-form-urlencoded";
  private static final String COOKIE = "AuthSession=[A-Za-z0-9_-]+; Version=1; Path=/; HttpOnly";
  private static final String NO_COOKIE = "AuthSession=; Version=1; Path=/; HttpOnly";

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

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      textBlock =
          """
          application/x-www-form-urlencoded | name=jan&password=apple            | jan
          application/x-www-form-urlencoded | username=jan&password=apple        | jan
          application/x-www-form-urlencoded | name=j%C3%BCrgen+x&password=%26%3D | jürgen x
          application/x-www-form-urlencoded; charset=utf-8 | name=jan&password=  | jan
          application/json                  | {"name":"jan","password":"apple"}  | jan
          application/json                  | {"username":"jan"}                 | jan
          application/json; charset=utf-8   | {"name":"a:b","password":"apple"}  | a:b
          """)
  void everybody_logs_in(String type, String body, String name) {
    Answer answer = logIn(type, body);

    assertThat(answer.status()).isEqualTo(200);
    assertThat(answer.body())
        .isEqualTo("{\"ok\":true,\"name\":\"" + name + "\",\"roles\":[\"_admin\"]}\n");
    assertThat(answer.header("set-cookie")).matches(COOKIE);
    assertThat(answer.header("cache-control")).isEqualTo("must-revalidate");
  }

  @Test
  void the_cookie_holds_the_name_and_no_password() {
    String cookie = logIn(FORM, "name=jan&password=apple").header("set-cookie");

    String value = cookie.substring("AuthSession=".length(), cookie.indexOf(';'));
    assertThat(new String(Base64.getUrlDecoder().decode(value), StandardCharsets.UTF_8))
        .isEqualTo("jan::");
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
    assertThat(logIn(FORM, "name=" + "n".repeat(512)).status()).isEqualTo(200);
    Answer tooLong = logIn(FORM, "name=" + "n".repeat(513));
    assertThat(tooLong.status()).isEqualTo(400);
    assertThat(tooLong.member("reason")).isEqualTo("A username has 512 bytes of UTF-8 at most.");
    assertThat(logIn(FORM, "name=" + "%C3%BC".repeat(257)).status()).isEqualTo(400);
    String start = "name=a&password=";
    int room = (16 << 10) - start.length();
    assertThat(logIn(FORM, start + "p".repeat(room)).status()).isEqualTo(200);
    assertThat(logIn(FORM, start + "p".repeat(room + 1)).status()).isEqualTo(413);
  }

  @Test
  void the_session_is_of_whoever_logged_in() {
    assertThat(server.get("/_session").body()).contains("\"name\":null,\"roles\":[\"_admin\"]");
    String cookie = logIn(FORM, "name=j%C3%BCrgen&password=apple").header("set-cookie");

    String shown = cookie.substring(0, cookie.indexOf(';'));
    Answer session = server.request("GET", "/_session").header("Cookie", shown).send();
    assertThat(session.body()).contains("\"name\":\"jürgen\"");
  }

  @Test
  void logging_out_takes_the_cookie_away() {
    Answer answer = server.delete("/_session");

    assertThat(answer.status()).isEqualTo(200);
    assertThat(answer.body()).isEqualTo("{\"ok\":true}\n");
    assertThat(answer.header("set-cookie")).isEqualTo(NO_COOKIE);
  }

  @Test
  void a_form_goes_on_to_a_path_of_this_server() {
    Answer in =
        server
            .request("POST", "/_session?next=/_utils/%23x")
            .header("Content-Type", FORM)
            .body("name=a".getBytes(StandardCharsets.UTF_8))
            .send();
    assertThat(in.status()).isEqualTo(302);
    assertThat(in.header("location")).isEqualTo("http://host/_utils/#x");
    assertThat(in.header("set-cookie")).matches(COOKIE);
    assertThat(in.body()).startsWith("{\"ok\":true,\"name\":\"a\"");
    Answer out = server.delete("/_session?next=/x");
    assertThat(out.status()).isEqualTo(302);
    assertThat(out.header("location")).isEqualTo("http://host/x");
    assertThat(out.header("set-cookie")).isEqualTo(NO_COOKIE);
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
          Authorization | Basic amFuOmFwcGxl               | "jan"     | ,"authenticated":"default"
          Authorization | Basic asO8cmdlbjphOmI=           | "jürgen"  | ,"authenticated":"default"
          Authorization | Basic amFu                       | null      | ''
          Authorization | Basic OmFwcGxl                   | null      | ''
          Authorization | Basic /w==                       | null      | ''
          Authorization | Basic !!!                        | null      | ''
          Authorization | Bearer x.y.z                     | null      | ''
          Authorization | Nonsense                         | null      | ''
          Cookie        | AuthSession=amFuOjo              | "jan"     | ,"authenticated":"cookie"
          Cookie        | a=b; AuthSession=ImE6Yjo6; c=d  | "\\"a:b"   | ,"authenticated":"cookie"
          Cookie        | AuthSession=amFu                 | null      | ''
          Cookie        | AuthSession=_zo6                 | null      | ''
          Cookie        | AuthSession=x                    | null      | ''
          Cookie        | AuthSession=                     | null      | ''
          Cookie        | =;;                              | null      | ''
          """)
  void a_client_is_told_its_name_and_nothing_changes(
      String header, String value, String name, String how) {
    Answer session = server.request("GET", "/_session").header(header, value).send();
    assertThat(session.status()).isEqualTo(200);
    assertThat(session.body())
        .isEqualTo(
            "{\"ok\":true,\"userCtx\":{\"name\":"
                + name
                + ",\"roles\":[\"_admin\"]},"
                + "\"info\":{\"authentication_handlers\":[\"cookie\",\"default\"]"
                + how
                + "}}\n");
    assertThat(session.headers()).doesNotContainKey("set-cookie");
    assertThat(server.request("PUT", "/w").header(header, value).send().status()).isEqualTo(201);
    assertThat(server.request("PUT", "/w/a").header(header, value).json("{}").send().status())
        .isEqualTo(201);
    assertThat(server.request("GET", "/w/a").header(header, value).send().status()).isEqualTo(200);
    assertThat(server.request("GET", "/w/_changes").header(header, value).send().status())
        .isEqualTo(200);
  }
}
