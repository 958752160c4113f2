package lectus.http.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.EOFException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import lectus.config.Configuration;
import lectus.config.ConfigurationException;
import lectus.config.HttpKeys;
import lectus.config.Settings;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import lectus.http.testing.TestSettings;
import lectus.json.JsonBuffer;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code /_utils/} with a folder. */
final class FolderResourceTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private static final String OF_COUCHDB =
      "child-src 'self' data: blob:; default-src 'self'; img-src 'self' data:; font-src 'self';"
          + " script-src 'self' 'unsafe-eval'; style-src 'self' 'unsafe-inline';"
          + " frame-src https://blog.couchdb.org;";

  /** Longer than what a server reads at once, and than what it lets wait for a client. */
  private static final String LONG = "0123456789abcdef".repeat(100_000);

  @TempDir static Path outside;

  private static Path folder;
  private static LectusServer server;

  @BeforeAll
  static void start() throws IOException {
    folder = Files.createDirectories(outside.resolve("www"));
    Files.writeString(outside.resolve("secret.txt"), "secret");
    Files.writeString(folder.resolve("index.html"), "<!doctype html>");
    Files.writeString(folder.resolve(".hidden"), "secret");
    Files.writeString(folder.resolve("empty.css"), "");
    Files.writeString(folder.resolve("a b+ü.txt"), "named");
    Files.writeString(folder.resolve("long.js"), LONG);
    Files.createDirectories(folder.resolve("docs/img"));
    Files.writeString(folder.resolve("docs/index.html"), "documents");
    Files.createSymbolicLink(folder.resolve("out.txt"), outside.resolve("secret.txt"));
    Files.createSymbolicLink(folder.resolve("out"), outside);
    Files.createSymbolicLink(folder.resolve("within.html"), folder.resolve("index.html"));
    Files.createSymbolicLink(folder.resolve("circle"), folder.resolve("circle"));
    ofLength("largest.bin", FolderResource.ServedFile.MAX_BYTES);
    ofLength("larger.bin", FolderResource.ServedFile.MAX_BYTES + 1);
    server = LectusServer.start(stores.fresh(), new TestSettings().with(HttpKeys.UTILS, folder));
  }

  /** Takes no space on the disk. */
  private static void ofLength(String name, long bytes) throws IOException {
    try (RandomAccessFile file = new RandomAccessFile(folder.resolve(name).toFile(), "rw")) {
      file.setLength(bytes);
    }
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @ParameterizedTest
  @CsvSource({
    "/_utils/, text/html; charset=utf-8, <!doctype html>",
    "/_utils/index.html, text/html; charset=utf-8, <!doctype html>",
    "//_utils//index.html?v=1, text/html; charset=utf-8, <!doctype html>",
    "/_utils/%69ndex.html, text/html; charset=utf-8, <!doctype html>",
    "/_utils/within.html, text/html; charset=utf-8, <!doctype html>",
    "/_utils/docs/, text/html; charset=utf-8, documents",
    "/_utils/empty.css, text/css; charset=utf-8, ''",
    "/_utils/a%20b%2B%C3%BC.txt, text/plain; charset=utf-8, named"
  })
  void a_file_has_its_type_its_length_and_the_policy_of_couchdb(
      String path, String type, String content) {
    Answer answer = server.get(path).expect(200, content);
    assertThat(answer.header("content-type")).isEqualTo(type);
    assertThat(answer.header("content-length")).isEqualTo("" + content.length());
    assertThat(answer.header("content-security-policy")).isEqualTo(OF_COUCHDB);
    assertThat(answer.header("cache-control")).isEqualTo("private, must-revalidate");
    assertThat(answer.header("x-content-type-options")).isEqualTo("nosniff");
  }

  @Test
  void a_long_file_is_sent_as_a_whole() {
    Answer answer = server.get("/_utils/long.js").expect(200);
    assertThat(answer.header("content-length")).isEqualTo("" + LONG.length());
    answer.expect(LONG);
  }

  @Test
  void the_head_of_a_file_has_its_length_and_no_more() {
    Answer answer = server.head("/_utils/long.js").expect(200);
    assertThat(answer.header("content-length")).isEqualTo("" + LONG.length());
    assertThat(answer.header("content-type")).isEqualTo("text/javascript; charset=utf-8");
    assertThat(answer.header("etag")).isEqualTo(server.get("/_utils/long.js").header("etag"));
    assertThat(answer.body()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "bytes=0-3, 206, 0123, bytes 0-3/1600000",
    "bytes=1599998-, 206, ef, bytes 1599998-1599999/1600000",
    "bytes=-2, 206, ef, bytes 1599998-1599999/1600000",
    "bytes=1600000-1600001, 416, , bytes */1600000"
  })
  void a_part_of_a_file_is_sent_alone(String range, int status, String part, String inWhole) {
    Answer answer = server.request("GET", "/_utils/long.js", "Range", range).send().expect(status);
    assertThat(answer.header("content-range")).isEqualTo(inWhole);
    if (status == 206) {
      answer.expect(part);
    }
  }

  @Test
  void a_part_of_another_build_is_not_sent() {
    Answer first = server.get("/_utils/index.html");
    assertThat(first.header("accept-ranges")).isEqualTo("bytes");

    for (String tag : List.of(first.header("etag"), "\"other\"")) {
      server
          .request("GET", "/_utils/index.html", "Range", "bytes=0-1", "If-Range", tag)
          .send()
          .expect(tag.equals(first.header("etag")) ? "<!" : "<!doctype html>");
    }
  }

  @Test
  void what_has_not_changed_is_not_sent_again() {
    Answer first = server.get("/_utils/long.js");
    String tag = first.header("etag");
    String date = first.header("last-modified");

    assertThat(unchanged("If-None-Match", tag)).isTrue();
    assertThat(unchanged("If-None-Match", "\"x\", W/" + tag)).isTrue();
    assertThat(unchanged("If-None-Match", "\"x\"")).isFalse();
    assertThat(unchanged("If-Modified-Since", date)).isTrue();
    assertThat(unchanged("If-Modified-Since", "Mon, 01 Jan 2001 00:00:00 GMT")).isFalse();
    assertThat(unchanged("If-Modified-Since", "yesterday")).isFalse();
  }

  private static boolean unchanged(String header, String value) {
    Answer answer = server.request("GET", "/_utils/long.js", header, value).send();
    assertThat(answer.header("etag")).isEqualTo(server.head("/_utils/long.js").header("etag"));
    if (answer.status() == 304) {
      assertThat(answer.body()).isEmpty();
      return true;
    }
    answer.expect(200);
    assertThat(answer.body()).hasSize(LONG.length());
    return false;
  }

  @Test
  void a_tag_counts_more_than_a_date() {
    String date = server.head("/_utils/long.js").header("last-modified");

    server
        .request("GET", "/_utils/long.js", "If-None-Match", "\"x\"", "If-Modified-Since", date)
        .send()
        .expect(200);
  }

  @Test
  void a_new_build_is_seen_at_once() throws IOException {
    Path file = Files.writeString(folder.resolve("build.js"), "old");
    String old = server.get("/_utils/build.js").header("etag");

    Files.writeString(file, "new");
    Files.setLastModifiedTime(file, FileTime.from(Instant.parse("2040-01-01T00:00:00Z")));
    Answer answer =
        server.request("GET", "/_utils/build.js", "If-None-Match", old).send().expect(200, "new");
    assertThat(answer.header("last-modified")).isEqualTo("Sun, 01 Jan 2040 00:00:00 GMT");
    Files.delete(file);
    server.get("/_utils/build.js").expect(404);
  }

  @ParameterizedTest
  @CsvSource({"/_utils, /_utils/", "/_utils/docs, /_utils/docs/", "//_utils?x, //_utils/"})
  void links_of_a_folder_need_the_slash(String path, String location) {
    Answer answer = server.get(path).expect(301);
    assertThat(answer.header("location")).isEqualTo("http://host" + location);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/_utils/nope",
        "/_utils/../secret.txt",
        "/_utils/..%2Fsecret.txt",
        "/_utils/%2E%2E/secret.txt",
        "/_utils/%2e%2e%2fsecret.txt",
        "/_utils/docs/../index.html",
        "/_utils/docs%2Findex.html",
        "/_utils/..%5Csecret.txt",
        "/_utils/%2Fetc%2Fpasswd",
        "/_utils//etc/passwd",
        "/_utils/./index.html",
        "/_utils/.hidden",
        "/_utils/out.txt",
        "/_utils/out/secret.txt",
        "/_utils/out/",
        "/_utils/circle",
        "/_utils/index.html%00",
        "/_utils/index.html%00.js",
        "/_utils/C:index.html",
        "/_utils/index.html/",
        "/_utils/index.html/x",
        "/_utils/docs/img/",
        "/_utils/larger.bin"
      })
  void nothing_else_is_found(String path) {
    server.get(path).expect(404, "{\"error\":\"not_found\",\"reason\":\"missing\"}\n");
  }

  @Test
  void names_may_be_anything_and_files_long() {
    server.get("/_utils/" + "x".repeat(5_000)).expect(404);
    server.get("/_utils/" + "x/".repeat(3_000)).expect(404);
    server.get("/_utils/%FF").expect(404);
    assertThat(server.head("/_utils/largest.bin").header("content-length"))
        .isEqualTo("" + FolderResource.ServedFile.MAX_BYTES);
  }

  @Test
  void a_file_is_only_read() {
    Answer answer = server.request("PUT", "/_utils/index.html").send().expect(405);
    assertThat(answer.header("allow")).isEqualTo("GET,HEAD");
  }

  @Test
  void nobody_needs_to_log_in_for_files() {
    try (LectusServer guarded =
        LectusServer.start(stores.fresh(), new TestSettings().with(HttpKeys.UTILS, folder))) {
      guarded.put("/_node/_local/_config/admins/ann", "\"secret\"");
      guarded.get("/_all_dbs").expect(401);
      guarded.get("/_utils/index.html").expect(200);
    }
  }

  @Test
  void a_folder_without_a_page_is_refused_at_the_start() {
    Configuration configuration =
        Configuration.of(null, Map.of(), Map.of("http.utils", outside.toString()));

    assertThatThrownBy(() -> Settings.of(configuration).node())
        .isInstanceOf(ConfigurationException.class)
        .hasMessage(
            "The folder of \"http.utils\", %s, has no index.html that can be read.", outside);
  }

  /** The example page and the dashboard as they are served; browsers test what they do. */
  @Nested
  class PackagedPages {
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

  @Nested
  class Parts {
    private static final int PART_BYTES = 128 << 10;

    @TempDir Path folder;

    @Test
    void a_file_comes_in_parts_and_none_is_empty() throws IOException {
      FolderResource.FileParts parts = partsOf("x".repeat(2 * PART_BYTES), 2 * PART_BYTES);
      JsonBuffer out = new JsonBuffer(16);

      assertThat(parts.appendNext(out)).isTrue();
      assertThat(out.length()).isEqualTo(PART_BYTES);
      assertThat(parts.appendNext(out)).isFalse();
      assertThat(out.length()).isEqualTo(2 * PART_BYTES);
    }

    @Test
    void what_was_added_since_is_not_sent() throws IOException {
      JsonBuffer out = new JsonBuffer(16);

      assertThat(partsOf("old and new", 3).appendNext(out)).isFalse();
      assertThat(out.toString()).isEqualTo("old");
    }

    @Test
    void a_file_that_became_shorter_is_broken_off() throws IOException {
      FolderResource.FileParts parts = partsOf("short", 6);

      assertThatThrownBy(() -> parts.appendNext(new JsonBuffer(16)))
          .hasCauseInstanceOf(EOFException.class);
    }

    private FolderResource.FileParts partsOf(String content, long size) throws IOException {
      Path file = Files.writeString(folder.resolve("file"), content);
      return new FolderResource.FileParts(
          new FolderResource.ServedFile(file, size, Instant.EPOCH), 0, size);
    }
  }
}
