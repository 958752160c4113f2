package lectus.http.exchange;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Base64;
import java.util.Random;
import java.util.zip.GZIPInputStream;
import lectus.config.HttpKeys;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.LectusServer;
import lectus.http.testing.TestSettings;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Answers as gzip, as clients on sockets see them. */
final class CompressedAnswersTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private static final String TEXT = "a long word ".repeat(1_000);

  private static LectusServer server;
  private static HttpClient client;

  @BeforeAll
  static void start() {
    server = LectusServer.start(stores.fresh(), new TestSettings().compressedStreams(2));
    client = HttpClient.newHttpClient();
    server.put("/w");
    server.put("/w/short", "{}");
    server.put("/w/long", "{\"v\":\"" + TEXT + "\"}");
    server.put("/many");
    for (int i = 0; i < 60; i++) {
      server.put("/many/d" + i, "{\"v\":\"" + "x".repeat(20_000) + "\"}");
    }
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private static HttpResponse<byte[]> get(String target, String accepted, String... headers) {
    return ask("GET", HttpClient.Version.HTTP_1_1, target, accepted, headers);
  }

  private static HttpResponse<byte[]> ask(
      String method, HttpClient.Version version, String target, String accepted, String... more) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(server.url() + target))
            .version(version)
            .method(method, HttpRequest.BodyPublishers.noBody())
            .header("Accept-Encoding", accepted);
    if (more.length > 0) {
      request.headers(more);
    }
    try {
      return client.send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static String unzipped(HttpResponse<byte[]> answer) {
    assertThat(answer.headers().firstValue("content-encoding")).contains("gzip");
    try (InputStream in = new GZIPInputStream(new ByteArrayInputStream(answer.body()))) {
      return new String(in.readAllBytes(), UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Its client reads nothing of the body by itself. */
  private static Connection slow(String target) {
    return new Connection(server.port(), 4 << 10)
        .write("GET " + target + " HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n");
  }

  private static int streams() {
    return server
        .get("/_node/_local/_prometheus")
        .body()
        .lines()
        .filter(line -> line.startsWith("lectus_http_compressed_streams "))
        .mapToInt(line -> (int) Double.parseDouble(line.substring(line.indexOf(' '))))
        .findFirst()
        .orElseThrow();
  }

  private static void awaitStreams(int count) {
    Await.until(count + " answers are compressed", () -> streams() == count);
  }

  @ParameterizedTest
  @EnumSource(HttpClient.Version.class)
  void a_document_and_a_list_come_as_gzip(HttpClient.Version version) {
    for (String target : new String[] {"/w/long", "/many/_all_docs?include_docs=true"}) {
      HttpResponse<byte[]> plain = ask("GET", version, target, "identity");
      HttpResponse<byte[]> zipped = ask("GET", version, target, "gzip, deflate");

      assertThat(plain.headers().firstValue("content-encoding")).isEmpty();
      assertThat(unzipped(zipped)).isEqualTo(new String(plain.body(), UTF_8));
      assertThat(zipped.body()).hasSizeLessThan(plain.body().length / 10);
      assertThat(zipped.headers().allValues("vary")).containsExactly("accept-encoding");
      assertThat(plain.headers().allValues("vary")).containsExactly("accept-encoding");
      assertThat(zipped.headers().firstValue("etag")).isEqualTo(plain.headers().firstValue("etag"));
    }
    awaitStreams(0);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "gzip|true",
        "GZIP;q=0.1|true",
        "deflate, *|true",
        "*;q=0.001|true",
        "br, gzip ; q=1.0|true",
        "gzip;q=0|false",
        "gzip;q=0.000, *|false",
        "*;q=0|false",
        "identity|false",
        "br|false",
        "gzip;q=0.5, identity|false",
        "gzip, identity;q=0.5|true"
      })
  void clients_choose(String accepted, boolean isZipped) {
    assertThat(get("/w/long", accepted).headers().firstValue("content-encoding").isPresent())
        .isEqualTo(isZipped);
  }

  @Test
  void short_answers_and_errors_come_as_they_are() {
    for (String target : new String[] {"/w/short", "/", "/w", "/w/none", "/w/_all_docs"}) {
      HttpResponse<byte[]> answer = get(target, "gzip");
      assertThat(answer.headers().firstValue("content-encoding")).isEmpty();
      assertThat(new String(answer.body(), UTF_8)).startsWith("{");
    }
  }

  @Test
  void a_head_says_what_a_get_would() {
    for (String target : new String[] {"/w/long", "/w/short"}) {
      HttpResponse<byte[]> head = ask("HEAD", HttpClient.Version.HTTP_1_1, target, "gzip");
      HttpResponse<byte[]> get = get(target, "gzip");
      for (String name : new String[] {"content-encoding", "content-length", "vary", "etag"}) {
        assertThat(head.headers().firstValue(name)).isEqualTo(get.headers().firstValue(name));
      }
      assertThat(head.body()).isEmpty();
    }
  }

  /** How long it would be is not known before it is read. */
  @ParameterizedTest
  @EnumSource(HttpClient.Version.class)
  void a_head_of_a_list_claims_no_length(HttpClient.Version version) {
    for (String target : new String[] {"/many/_all_docs", "/w/_changes", "/many/_local_docs"}) {
      HttpResponse<byte[]> head = ask("HEAD", version, target, "identity");
      assertThat(head.statusCode()).isEqualTo(200);
      assertThat(head.headers().firstValue("content-length")).isEmpty();
      assertThat(head.headers().firstValue("content-type"))
          .isEqualTo(ask("GET", version, target, "identity").headers().firstValue("content-type"));
      assertThat(head.body()).isEmpty();
    }
  }

  @Test
  void a_server_that_is_told_so_compresses_nothing() {
    TestSettings plain = new TestSettings().with(HttpKeys.COMPRESSION, false);
    try (LectusServer other = LectusServer.start(stores.fresh(), plain)) {
      other.put("/w");
      other.put("/w/long", "{\"v\":\"" + TEXT + "\"}");
      String feed = "/w/_changes?feed=continuous&timeout=10";
      for (String target : new String[] {"/w/long", "/w/_changes?include_docs=true", feed}) {
        Answer answer = other.request("GET", target, "Accept-Encoding", "gzip").send();
        assertThat(answer.header("content-encoding")).isNull();
        assertThat(answer.header("vary")).isNull();
        assertThat(answer.body()).contains("\"");
      }
    }
  }

  /** As CouchDB's: clients that read lines through an inflating stream would wait for kilobytes. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "/w/_changes?feed=continuous&include_docs=true&timeout=10",
        "/w/_changes?feed=eventsource&include_docs=true&timeout=10",
        "/w/_changes?feed=longpoll&include_docs=true",
        "/w/_changes?feed=longpoll&since=now&timeout=10",
        "/_db_updates?since=0&feed=normal",
        "/_db_updates?since=0&feed=longpoll",
        "/_db_updates?since=0&feed=continuous&timeout=10",
        "/_db_updates?since=0&feed=eventsource&timeout=10"
      })
  void feeds_come_as_they_are(String target) {
    for (HttpClient.Version version : HttpClient.Version.values()) {
      HttpResponse<byte[]> answer = ask("GET", version, target, "gzip");
      assertThat(answer.headers().firstValue("content-encoding")).isEmpty();
      assertThat(answer.headers().firstValue("vary")).isEmpty();
      assertThat(new String(answer.body(), UTF_8)).contains("\"");
    }
    assertThat(unzipped(get("/w/_changes?include_docs=true", "gzip"))).contains(TEXT);
  }

  @Test
  void who_has_the_state_is_told_so_whatever_its_encoding() {
    String tag = get("/w/long", "gzip").headers().firstValue("etag").orElseThrow();
    for (String accepted : new String[] {"gzip", "identity"}) {
      HttpResponse<byte[]> again = get("/w/long", accepted, "If-None-Match", tag);
      assertThat(again.statusCode()).isEqualTo(304);
      assertThat(again.body()).isEmpty();
      assertThat(again.headers().firstValue("content-encoding")).isEmpty();
      assertThat(again.headers().allValues("vary")).containsExactly("accept-encoding");
    }
  }

  @Test
  void attachments_that_are_stored_as_they_are_come_so() throws Exception {
    HttpRequest put =
        HttpRequest.newBuilder(URI.create(server.url() + "/w/with/a.png"))
            .header("Content-Type", "image/png")
            .PUT(HttpRequest.BodyPublishers.ofString(TEXT))
            .build();
    client.send(put, HttpResponse.BodyHandlers.discarding());
    HttpResponse<byte[]> answer = get("/w/with/a.png", "gzip");
    assertThat(answer.headers().firstValue("content-encoding")).isEmpty();
    assertThat(new String(answer.body(), UTF_8)).isEqualTo(TEXT);
  }

  @Test
  void beyond_their_places_answers_come_as_they_are() {
    awaitStreams(0);
    String list = "/large/_all_docs?include_docs=true";
    server.put("/large");
    byte[] noise = new byte[90_000];
    Random random = new Random(1);
    for (int i = 0; i < 150; i++) {
      random.nextBytes(noise);
      server.put("/large/d" + i, "{\"v\":\"" + Base64.getEncoder().encodeToString(noise) + "\"}");
    }
    try (Connection first = slow(list);
        Connection second = slow(list)) {
      assertThat(first.readHead().header("content-encoding")).isEqualTo("gzip");
      assertThat(second.readHead().header("content-encoding")).isEqualTo("gzip");
      awaitStreams(2);
      assertThat(get(list, "gzip").headers().firstValue("content-encoding")).isEmpty();
      first.abort();
      awaitStreams(1);
      assertThat(unzipped(get(list, "gzip"))).endsWith("]}\n");
    }
    awaitStreams(0);
  }

  @Test
  void a_client_that_leaves_in_the_midst_of_a_list_frees_its_place() {
    awaitStreams(0);
    try (Connection slow = slow("/many/_all_docs?include_docs=true")) {
      slow.readHead();
      slow.abort();
    }
    awaitStreams(0);
  }
}
