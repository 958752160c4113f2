package lectus.http.api;

import static org.assertj.core.api.Assertions.assertThat;

import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The example page and the dashboard as they are served; browsers test what they do. */
final class PackagedPageTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private static LectusServer server;

  @BeforeAll
  static void start() {
    server = LectusServer.start(stores.fresh());
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @ParameterizedTest
  @CsvSource({
    "/_example/, text/html; charset=utf-8, <!doctype html>",
    "/_example/page.js, text/javascript; charset=utf-8, import",
    "/_example/changes-socket.js, text/javascript; charset=utf-8, lectus.changes.v1",
    "/_example/page.css, text/css; charset=utf-8, color-scheme",
    "/_example/icon.svg, image/svg+xml, <svg",
    "/_lectus/, text/html; charset=utf-8, <!doctype html>",
    "/_lectus/dashboard.js, text/javascript; charset=utf-8, import",
    "/_lectus/changes-socket.js, text/javascript; charset=utf-8, lectus.changes.v1",
    "/_lectus/page.css, text/css; charset=utf-8, color-scheme",
    "/_lectus/dashboard.css, text/css; charset=utf-8, plot",
    "/_lectus/icon.svg, image/svg+xml, <svg"
  })
  void its_files(String path, String type, String content) {
    Answer answer = server.get(path).expect(200);
    assertThat(answer.header("content-type")).isEqualTo(type);
    assertThat(answer.body()).contains(content);
    assertThat(answer.header("content-security-policy"))
        .startsWith("default-src 'none'; script-src 'self';")
        .doesNotContain("unsafe");
    assertThat(answer.header("x-content-type-options")).isEqualTo("nosniff");
    server.head(path).expect(200);
  }

  /** Its policy would block them. */
  @ParameterizedTest
  @ValueSource(strings = {"/_example/", "/_lectus/"})
  void it_has_neither_scripts_nor_styles_nor_handlers_inside(String page) {
    assertThat(server.get(page).body())
        .doesNotContainPattern("<style|style=|<script>|\\son[a-z]+=|javascript:|https?://");
  }

  @Test
  void what_has_not_changed_is_not_sent_again() {
    String tag = server.get("/_example/page.js").header("etag");

    server.request("GET", "/_example/page.js", "If-None-Match", tag).send().expect(304);
    server.request("GET", "/_example/page.js", "If-None-Match", "\"other\"").send().expect(200);
  }

  @ParameterizedTest
  @ValueSource(strings = {"/_example", "/_lectus"})
  void its_links_need_the_slash(String page) {
    Answer answer = server.get(page).expect(302);
    assertThat(answer.header("location")).isEqualTo(page + "/");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/_example/nope",
        "/_example/..",
        "/_example/a/b",
        "/_example/index.html",
        "/_example/page.js/",
        "/_example/dashboard.js",
        "/_lectus/page.js",
        "/_lectus/%2e%2e/page.js"
      })
  void there_is_nothing_else(String path) {
    Answer answer = server.get(path).expect(404);
    assertThat(answer.member("error")).isEqualTo("not_found");
  }

  @Test
  void it_is_only_read() {
    Answer answer = server.post("/_example/", "{}").expect(405);
    assertThat(answer.header("allow")).isEqualTo("GET,HEAD");
  }
}
