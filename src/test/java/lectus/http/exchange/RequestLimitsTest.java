package lectus.http.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.LectusServer;
import lectus.http.testing.Request;
import lectus.http.testing.TestSettings;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Requests that are too long, of a form that is not allowed, or old; and headers that change their
 * meaning.
 */
final class RequestLimitsTest {
  /** Requests that are too long, or of a form that HTTP or the server does not allow. */
  @Nested
  class Limits {
    private static final int MAX_URI = 1_000;
    private static final int MAX_BODY = 50_000;

    @RegisterExtension static final TestStores stores = new TestStores();

    @AutoClose
    private final LectusServer server =
        LectusServer.start(
            stores.fresh(), new TestSettings().maxUriLength(MAX_URI).maxRequestBytes(MAX_BODY));

    @BeforeEach
    void create() {
      server.put("/w");
    }

    private static String documentOf(int bytes) {
      String empty = "{\"a\":\"\"}";
      return "{\"a\":\"" + "x".repeat(bytes - empty.length()) + "\"}";
    }

    private static String uriOf(int length) {
      return "/w?x=" + "y".repeat(length - 5);
    }

    @Test
    void a_uri_at_the_limit_passes_and_a_longer_one_is_414() {
      server.get(uriOf(MAX_URI)).expect(200);
      for (int length : new int[] {MAX_URI + 1, MAX_URI + 100, 20 * MAX_URI}) {
        Answer tooLong = server.get(uriOf(length));
        assertThat(tooLong.status()).as("%d", length).isEqualTo(414);
        tooLong.expect("{\"error\":\"too_long\",\"reason\":\"the request uri is too long\"}\n");
        assertThat(tooLong.header("x-couch-request-id")).matches("[0-9a-f]{10}");
      }
    }

    @Test
    void a_body_at_the_limit_passes_and_a_longer_one_is_413() {
      server.put("/w/a", documentOf(MAX_BODY)).expect(201);
      server
          .put("/w/b", documentOf(MAX_BODY + 1))
          .expect(
              413,
              "{\"error\":\"too_large\",\"reason\":\"the request entity is too large, the limit is "
                  + MAX_BODY
                  + " bytes\"}\n");
      server.get("/w/b").expect(404);
    }

    @Test
    void what_is_refused_while_it_arrives_says_that_its_connection_ends() {
      try (Connection connection =
          server.request("PUT", "/w/b", "Content-Length", "" + (MAX_BODY + 1)).open()) {
        Answer refused = connection.write("{\"a\":\"").read(false).expect(413);
        assertThat(refused.header("connection")).isEqualTo("close");
        connection.write("x".repeat(MAX_BODY + 1 - 6));
        assertThat(connection.isAtEnd()).isTrue();
      }
      assertThat(server.put("/w/a", documentOf(MAX_BODY)).header("connection")).isNull();
    }

    @Test
    void chunked_bodies_are_counted_as_they_come() {
      chunked("/w/a", documentOf(MAX_BODY)).expect(201);
      chunked("/w/b", documentOf(MAX_BODY + 1)).expect(413);
      server.get("/w/b").expect(404);
    }

    private Answer chunked(String target, String body) {
      try (Connection connection =
          server.request("PUT", target, "Transfer-Encoding", "chunked").open()) {
        for (int from = 0; from < body.length(); from += 1_000) {
          String part = body.substring(from, Math.min(body.length(), from + 1_000));
          connection.write(Integer.toHexString(part.length()) + "\r\n" + part + "\r\n");
        }
        return connection.write("0\r\n\r\n").read(false);
      }
    }

    @Test
    void compressed_bodies_are_counted_as_they_are_decompressed() throws IOException {
      gzipped("/w/a", documentOf(MAX_BODY)).send().expect(201);
      assertThat(server.get("/w/a").body()).contains("xxxxx");
      gzipped("/w/b", documentOf(MAX_BODY + 1)).send().expect(413);
      server.request("PUT", "/w/b", "Content-Encoding", "gzip").json("{}").send().expect(400);
      server.request("PUT", "/w/b", "Content-Encoding", "br").json("{}").send().expect(415);
      server.get("/w/b").expect(404);
    }

    private Request gzipped(String target, String body) {
      return server.request("PUT", target).gzipped(body);
    }

    @Test
    void a_client_that_asks_first_is_told_to_go_on() {
      String body = "{\"v\":1}";
      try (Connection connection =
          server
              .request(
                  "PUT", "/w/a", "Expect", "100-continue", "Content-Length", "" + body.length())
              .open()) {
        connection.readHead().expect(100);
        connection.write(body).read(false).expect(201);
      }
    }

    @Test
    void a_client_that_asks_first_with_too_much_is_told_so() {
      try (Connection connection =
          server
              .request(
                  "PUT", "/w/a", "Expect", "100-continue", "Content-Length", "" + (MAX_BODY + 1))
              .open()) {
        connection.read(false).expect(413);
      }
    }

    @Test
    void a_connection_takes_one_request_after_the_other() {
      try (Connection connection = server.connect()) {
        for (int i = 0; i < 5; i++) {
          byte[] put = server.request("PUT", "/w/k" + i).json("{}").bytes();
          connection.write(put).read(false).expect(201);
          byte[] get = server.request("GET", "/w/k" + i).bytes();
          connection.write(get).read(false).expect(200);
          byte[] head = server.request("HEAD", "/w/none").bytes();
          connection.write(head).read(true).expect(404);
          byte[] list = server.request("GET", "/w/_all_docs").bytes();
          assertThat(connection.write(list).read(false).body()).contains("\"k" + i + "\"");
          byte[] ignored = server.request("DELETE", "/w/none").json("{\"a\":1}").bytes();
          connection.write(ignored).read(false).expect(404);
        }
      }
    }

    @Test
    void pipelined_requests_are_answered_in_order() {
      server.write("/w/a", "{\"v\":1}");
      try (Connection connection = server.connect()) {
        connection.write(server.request("GET", "/w/a").bytes());
        connection.write(server.request("GET", "/w/none").bytes());
        connection.write(server.request("GET", "/_up").bytes());

        assertThat(connection.read(false).body()).contains("\"v\":1");
        connection.read(false).expect(404);
        assertThat(connection.read(false).body()).contains("\"status\":\"ok\"");
      }
    }

    /** More than one turn of the event loop has; their bodies wait with them. */
    @Test
    void many_pipelined_requests_are_answered_in_order() {
      int many = 500;
      StringBuilder requests = new StringBuilder();
      for (int i = 0; i < many; i++) {
        requests
            .append("PUT /w/p" + i + "?batch=ok HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\n")
            .append(String.format("{\"v\":%4d}", i))
            .append("GET /_up HTTP/1.1\r\nHost: h\r\n\r\n")
            .append("PUT /w/_p HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n")
            .append("2\r\n{}\r\n0\r\n\r\n");
      }
      try (Connection connection = server.connect()) {
        connection.write(requests.toString());
        for (int i = 0; i < many; i++) {
          assertThat(connection.read(false).body()).contains("\"id\":\"p" + i + "\"");
          assertThat(connection.read(false).body()).contains("\"status\":\"ok\"");
          Answer refused = connection.read(false).expect(400);
          assertThat(refused.header("connection")).isNull();
        }
      }
    }

    @Test
    void a_connection_begins_a_few_requests_in_a_turn() {
      ClientConnection use = ClientConnection.of(new EmbeddedChannel());
      for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < ClientConnection.MAX_IN_TURN; i++) {
          assertThat(use.takeTurn()).isTrue();
        }
        assertThat(use.takeTurn()).isFalse();
        use.endTurn();
      }
    }

    @Test
    void what_is_no_http_is_400_and_ends_the_connection() {
      try (Connection connection = server.connect()) {
        Answer answer = connection.write("this is no request line\r\n\r\n").read(false).expect(400);
        assertThat(answer.member("error")).isEqualTo("bad_request");
        assertThat(connection.isAtEnd()).isTrue();
      }
    }

    @Test
    void headers_are_bounded() {
      server.request("GET", "/w", "X", "y".repeat(10_000)).send().expect(200);
      Answer answer = server.request("GET", "/w", "X", "y".repeat(20_000)).send().expect(400);
      assertThat(answer.member("error")).isEqualTo("bad_request");
    }

    @Test
    void old_clients_get_an_answer_that_ends_with_the_connection() {
      try (Connection connection = server.connect()) {
        connection.write("GET /_up HTTP/1.0\r\n\r\n").read(false).expect(200);
        assertThat(connection.isAtEnd()).isTrue();
      }
      try (Connection connection = server.connect()) {
        Answer head = connection.write("GET /w/_all_docs HTTP/1.0\r\n\r\n").readHead();
        assertThat(head.isChunked()).isFalse();
        assertThat(connection.readToEnd()).startsWith("{\"total_rows\":0,").endsWith("]}\n");
      }
    }
  }

  /** Headers that change the meaning of a request. */
  @Nested
  class Headers {
    @RegisterExtension static final LectusServer server = LectusServer.shared();

    @BeforeEach
    void create() {
      server.put("/w");
      server.write("/w/a", "{\"v\":1}");
    }

    private Request overridden(String method, String override, String target) {
      return server.request(method, target, "X-HTTP-Method-Override", override);
    }

    @ParameterizedTest
    @CsvSource({
      "POST,GET,/w/a,200",
      "POST,PUT,/w/b,201",
      "POST,COPY,/w/a,201",
      "POST,DELETE,/w,200",
      "POST,TRACE,/w/a,405",
      "POST,CONNECT,/w/a,405",
      "POST,POST,/w,201",
      "POST,get,/w,201",
      "POST,PATCH,/w,201",
      "GET,DELETE,/w/a,200",
      "PUT,GET,/w/c,201"
    })
    void another_method_counts_beside_a_post(
        String method, String override, String target, int status) {
      overridden(method, override, target)
          .header("Destination", "copy")
          .json("{}")
          .send()
          .expect(status);
      server
          .get("/w")
          .expect(override.equals("DELETE") && status == 200 && method.equals("POST") ? 404 : 200);
    }

    /** For the client's library, the answer to a POST ends where Content-Length says. */
    @Test
    void head_beside_a_post_has_a_body() {
      overridden("POST", "HEAD", "/w/a")
          .body(new byte[0])
          .send()
          .expect(200, server.get("/w/a").body());
    }

    @ParameterizedTest
    @ValueSource(strings = {"a", "Req-7_x", "0f9b3c1e-6f1d-4b53-8b0a-0f3a5a3d2c11"})
    void a_clients_request_id_comes_back(String id) {
      for (String target : new String[] {"/_up", "/w/a", "/nodb", "/w/_all_docs", "/%"}) {
        Answer answer = server.request("GET", target, "X-Couch-Request-ID", id).send();
        assertThat(answer.header("x-couch-request-id")).isEqualTo(id);
      }
    }

    @ParameterizedTest
    @ValueSource(
        strings = {
          "",
          "a b",
          "a\tb",
          "a=b",
          "a;b",
          "ü",
          "a\"",
          "id status=200",
          "0f9b3c1e-6f1d-4b53-8b0a-0f3a5a3d2c112"
        })
    void a_request_id_that_is_too_long_or_could_mislead_is_replaced(String id) {
      Answer answer = server.request("GET", "/_up", "X-Couch-Request-ID", id).send().expect(200);
      assertThat(answer.header("x-couch-request-id")).matches("[0-9a-f]{10}");
    }
  }

  /**
   * Answers of any length to HTTP/1.0, which has no chunks: the end of the connection ends them.
   */
  @Nested
  class FirstHttp {
    @RegisterExtension static final TestStores stores = new TestStores();

    private static LectusServer server;

    @BeforeAll
    static void start() {
      server = LectusServer.start(stores.fresh());
      server.put("/w");
      server.put("/w/a", "{}");
    }

    @AfterAll
    static void stop() {
      server.close();
    }

    @ParameterizedTest
    @ValueSource(
        strings = {
          "_all_docs",
          "_changes",
          "_changes?feed=longpoll",
          "_changes?feed=continuous&limit=1",
          "_changes?feed=eventsource&limit=1"
        })
    void are_not_chunked_and_end_with_their_connection(String resource) {
      for (String wish : new String[] {"", "Connection: keep-alive\r\n"}) {
        try (Connection connection = server.connect()) {
          connection.write(
              "GET /w/" + resource + " HTTP/1.0\r\nHost: localhost\r\n" + wish + "\r\n");

          Answer head = connection.readHead().expect(200);
          assertThat(head.isChunked()).isFalse();
          assertThat(head.header("connection")).isIn(null, "close");
          assertThat(connection.readToEnd()).contains("\"id\":\"a\"");
        }
      }
    }

    /** The end of the answer is still in memory when the connection is told to close. */
    @Test
    void a_slow_client_gets_all_of_it() {
      server.put("/large");
      for (int i = 0; i < 60; i++) {
        server.write("/large/d" + i, "{\"v\":\"" + "x".repeat(100_000) + "\"}");
      }
      try (Connection slow = new Connection(server.port(), 16 << 10)) {
        slow.write("GET /large/_all_docs?include_docs=true HTTP/1.0\r\nHost: localhost\r\n\r\n");
        slow.readHead().expect(200);

        assertThat(slow.readToEnd()).hasSizeGreaterThan(60 * 100_000).endsWith("]}\n");
      }
    }
  }
}
