package lectus.http.exchange;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.stream.Collectors;
import lectus.config.LogKeys;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.LectusServer;
import lectus.http.testing.TestSettings;
import lectus.store.testing.LogLines;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The access log of a whole server, from its first request to its stop. */
final class AccessLogTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  @AutoClose private final LogLines log = LogLines.of("lectus.access");

  @Test
  void every_request_has_one_line_once_the_server_has_stopped() {
    List<Answer> answers = new ArrayList<>();
    Instant begin = Instant.now();
    try (LectusServer server = LectusServer.start(stores.fresh())) {
      for (int i = 0; i < 300; i++) {
        answers.add(server.get("/none/doc%20" + i + "?rev=x"));
      }
    }

    List<String> lines = lines();
    for (int i = 0; i < answers.size(); i++) {
      String id = answers.get(i).header("x-couch-request-id");
      String path = "/none/doc%20" + i;
      assertThat(lines.stream().filter(line -> line.endsWith("request=" + id)))
          .singleElement()
          .asString()
          .matches(
              "\\S+ INFO  access method=GET path="
                  + path
                  + " db=none status=\\d+ bytes=\\d+ micros=.*");
    }
    assertThat(lines).hasSameSizeAs(answers);
    assertThat(timeOf(lines.get(0))).isCloseTo(begin, within(1, ChronoUnit.MINUTES));
  }

  @Test
  void a_client_that_goes_away_while_it_sends_its_body_is_499() {
    try (LectusServer server = LectusServer.start(stores.fresh())) {
      server.put("/w");
      try (Connection client = server.connect()) {
        client.write("PUT /w/a HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\n");
        client.write("Content-Length: 100\r\n\r\n");
        client.readHead().expect(100);
        client.write("{");
      }
    }
    assertThat(lines().stream().filter(AccessLogTest::isOfPut))
        .singleElement()
        .asString()
        .contains(" status=499 ");
  }

  @Test
  void a_line_names_its_user_and_no_credentials() {
    try (LectusServer server = LectusServer.start(stores.fresh())) {
      String name = "a n\u00fc";
      server.put("/_node/_local/_config/admins/a%20n%C3%BC", "\"s:cret\"");
      String pair = Base64.getEncoder().encodeToString((name + ":s:cret").getBytes(UTF_8));
      String mistaken = Base64.getEncoder().encodeToString((name + ":wrong").getBytes(UTF_8));
      server.request("GET", "/_all_dbs", "Authorization", "Basic " + pair).send();
      server.request("GET", "/_up", "Authorization", "Basic " + mistaken).send();
      String cookie =
          server
              .post("/_session", "{\"name\":\"" + name + "\",\"password\":\"s:cret\"}")
              .header("set-cookie");
      server.request("GET", "/_membership", "Cookie", cookie).send();
      server.get("/_uuids");
    }
    assertThat(line("/_all_dbs")).contains(" path=/_all_dbs user=a+n%C3%BC status=200 ");
    assertThat(line("/_membership")).contains(" user=a+n%C3%BC status=200 ");
    assertThat(line("/_up")).contains(" path=/_up status=401 ");
    assertThat(line("/_uuids")).contains(" path=/_uuids status=200 ");
    assertThat(String.join("", lines())).doesNotContain("cret", "wrong", "AuthSession", "Basic");
  }

  @Test
  void a_line_of_json_is_an_object_whatever_a_client_sends() {
    TestSettings json = new TestSettings().with(LogKeys.FORMAT, "json");
    String named;
    try (LectusServer server = LectusServer.start(stores.fresh(), json)) {
      server.get("/a%0a%22b/c%0A%E2%80%A8?rev=x");
      named =
          server
              .request("GET", "/_up", "X-Couch-Request-ID", "mine-1")
              .send()
              .header("x-couch-request-id");
      try (Connection client = server.connect()) {
        client.write("GET /d/x\u0085 HTTP/1.1\r\nHost: h\r\nX-Couch-Request-ID: a\"b\r\n\r\n");
        client.readHead();
      }
    }
    List<JsonObject> lines = lines().stream().map(JsonObject::new).toList();
    assertThat(lines).hasSize(3);
    assertThat(lines).allMatch(line -> line.getString("logger").equals("access"));
    JsonObject broken = withPath(lines, "/a%0a%22b/c%0A%E2%80%A8");
    assertThat(broken.getString("db")).isEqualTo("a\n\"b");
    assertThat(broken.getString("request")).matches("[0-9a-f]{10}");
    JsonObject up = withPath(lines, "/_up");
    assertThat(up.getString("request")).isEqualTo("mine-1").isEqualTo(named);
    assertThat(up.containsKey("db")).isFalse();
    assertThat(up.getInteger("status")).isEqualTo(200);
    assertThat(withPath(lines, "/d/x.*%85").getString("request")).matches("[0-9a-f]{10}");
  }

  private static JsonObject withPath(List<JsonObject> lines, String pattern) {
    return lines.stream()
        .filter(line -> line.getString("path").matches(pattern))
        .findFirst()
        .orElseThrow();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "GET http://ann:s3cret@h/a?token=s3cret HTTP/1.1",
        "GET /a%?token=s3cret HTTP/1.1",
        "GET ann:s3cret@h?token=s3cret HTTP/1.1",
        "CONNECT ann:s3cret@h:443 HTTP/1.1"
      })
  void credentials_around_a_path_are_not_logged(String requestLine) {
    try (LectusServer server = LectusServer.start(stores.fresh());
        Connection client = server.connect()) {
      client.write(requestLine + "\r\nHost: h\r\n\r\n");
      client.readHead();
    }
    assertThat(lines()).singleElement().asString().contains(" path=").doesNotContain("cret", "ann");
  }

  private String line(String path) {
    return lines().stream()
        .filter(line -> line.contains(" path=" + path + " "))
        .findFirst()
        .orElseThrow();
  }

  private static boolean isOfPut(String line) {
    return line.contains(" path=/w/a ");
  }

  private static Instant timeOf(String line) {
    return Instant.parse(line.substring(0, line.indexOf(' ')));
  }

  private List<String> lines() {
    return log.messages().stream().collect(Collectors.joining()).lines().toList();
  }
}
