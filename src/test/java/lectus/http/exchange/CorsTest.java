package lectus.http.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import lectus.config.CorsKeys;
import lectus.http.HttpSettings.CorsSettings;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import lectus.http.testing.Request;
import lectus.http.testing.TestSettings;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The web pages that may use the server. */
final class CorsTest {
  private static final String APP = "https://app.example";

  @RegisterExtension static final TestStores stores = new TestStores();

  private static LectusServer serverFor(boolean credentials, String... origins) {
    CorsSettings cors =
        new CorsSettings(
            true,
            List.of(origins),
            credentials,
            List.of("GET", "PUT"),
            List.of("content-type"),
            600);
    return LectusServer.start(stores.fresh(), new TestSettings().cors(cors));
  }

  private static Request preflight(LectusServer server, String origin, String method) {
    return server.request(
        "OPTIONS", "/_all_dbs", "Origin", origin, "Access-Control-Request-Method", method);
  }

  @Test
  void off_unless_an_origin_is_allowed() {
    try (LectusServer server = LectusServer.start(stores.fresh())) {
      Answer answer = server.request("GET", "/", "Origin", APP).send();
      assertThat(answer.headers()).doesNotContainKey("access-control-allow-origin");
      assertThat(answer.header("vary")).isEqualTo("accept-encoding");
      preflight(server, APP, "PUT").send().expect(405);
    }
  }

  @Test
  void an_allowed_origin_may_read_answers_and_errors() {
    try (LectusServer server = serverFor(false, APP)) {
      for (String target : new String[] {"/", "/nodb", "/_all_dbs"}) {
        Answer answer = server.request("GET", target, "Origin", APP).send();
        assertThat(answer.header("access-control-allow-origin")).isEqualTo(APP);
        assertThat(answer.header("access-control-expose-headers")).contains("etag");
        assertThat(answer.header("vary")).isEqualToIgnoringCase("origin, accept-encoding");
        assertThat(answer.headers()).doesNotContainKey("access-control-allow-credentials");
      }
      Answer other = server.request("GET", "/", "Origin", "https://evil").send().expect(200);
      assertThat(other.headers()).doesNotContainKey("access-control-allow-origin");
      assertThat(server.get("/").headers()).doesNotContainKey("access-control-allow-origin");
    }
  }

  @Test
  void a_preflight_is_granted_for_known_methods_and_headers() {
    try (LectusServer server = serverFor(true, APP)) {
      Answer granted =
          preflight(server, APP, "PUT")
              .header("Access-Control-Request-Headers", "Content-Type")
              .send()
              .expect(204);
      assertThat(granted.headers()).doesNotContainKey("content-length");
      assertThat(granted.header("access-control-allow-origin")).isEqualTo(APP);
      assertThat(granted.header("access-control-allow-methods")).isEqualTo("GET, PUT");
      assertThat(granted.header("access-control-allow-headers")).isEqualTo("Content-Type");
      assertThat(granted.header("access-control-max-age")).isEqualTo("600");
      assertThat(granted.header("access-control-allow-credentials")).isEqualTo("true");
      preflight(server, APP, "DELETE").send().expect(405);
      preflight(server, "https://evil", "PUT").send().expect(405);
      preflight(server, APP, "PUT")
          .header("Access-Control-Request-Headers", "x-evil")
          .send()
          .expect(405);
    }
  }

  @Test
  void a_page_may_log_in() {
    try (LectusServer server = serverFor(true, APP)) {
      server.put("/_users");
      server.put(
          "/_users/org.couchdb.user:jan",
          "{\"name\":\"jan\",\"type\":\"user\",\"roles\":[],\"password\":\"apple\"}");
      Answer session =
          server
              .request("POST", "/_session", "Origin", APP)
              .json("{\"name\":\"jan\",\"password\":\"apple\"}")
              .send()
              .expect(200);
      assertThat(session.header("access-control-allow-origin")).isEqualTo(APP);
      assertThat(session.header("access-control-allow-credentials")).isEqualTo("true");
      assertThat(session.header("set-cookie")).startsWith("AuthSession=");
      Answer again =
          server
              .request("GET", "/_session", "Origin", APP, "Authorization", "Basic amFuOmFwcGxl")
              .send();
      assertThat(again.header("access-control-allow-credentials")).isEqualTo("true");
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "https://app.example                | https://app.example | true",
        "HTTPS://App.Example:443,http://b   | https://app.example | true",
        "http://localhost:8000              | http://localhost:8000 | true",
        "*                                  | https://app.example | false",
        "https://app.example, *             | https://app.example | false",
        "null                               | null | false",
        "https://app.example, null          | https://app.example | false"
      })
  void credentials_are_for_named_origins_unless_configured(
      String origins, String origin, boolean credentials) {
    TestSettings settings = new TestSettings().with(CorsKeys.CORS_ORIGINS, origins);
    try (LectusServer server = LectusServer.start(stores.fresh(), settings)) {
      for (Answer answer :
          List.of(
              server.request("GET", "/", "Origin", origin).send(),
              preflight(server, origin, "PUT").send())) {
        assertThat(answer.header("access-control-allow-origin")).isEqualTo(origin);
        assertThat(answer.headers().containsKey("access-control-allow-credentials"))
            .isEqualTo(credentials);
      }
    }
  }

  @Test
  void stars_allow_all_methods_and_all_headers() {
    TestSettings settings =
        new TestSettings()
            .with(CorsKeys.CORS_ORIGINS, APP)
            .with(CorsKeys.CORS_METHODS, "*")
            .with(CorsKeys.CORS_HEADERS, "*");
    try (LectusServer server = LectusServer.start(stores.fresh(), settings)) {
      Answer answer =
          preflight(server, APP, "PATCH")
              .header("Access-Control-Request-Headers", "x-mine, X-Other")
              .send()
              .expect(204);
      assertThat(answer.header("access-control-allow-methods")).isEqualTo("PATCH");
      assertThat(answer.header("access-control-allow-headers")).isEqualTo("x-mine, X-Other");
    }
  }

  @Test
  void a_page_may_ask_for_a_part_and_see_which_it_got() {
    TestSettings settings = new TestSettings().with(CorsKeys.CORS_ORIGINS, APP);
    try (LectusServer server = LectusServer.start(stores.fresh(), settings)) {
      preflight(server, APP, "GET")
          .header("Access-Control-Request-Headers", "if-range,range")
          .send()
          .expect(204);
      Answer answer = server.request("GET", "/", "Origin", APP).send();
      assertThat(answer.header("access-control-expose-headers")).contains("content-range");
    }
  }

  @Test
  void a_star_allows_all() {
    try (LectusServer server = serverFor(false, "*")) {
      Answer answer = server.request("GET", "/", "Origin", APP).send();
      assertThat(answer.header("access-control-allow-origin")).isEqualTo(APP);
      preflight(server, APP, "GET").send().expect(204);
    }
  }
}
