package lectus.http.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import lectus.error.LectusException;
import lectus.http.client.CouchClient.RemoteFailure;
import lectus.http.client.HttpCaller.ClientSettings;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** How a client deals with what another server answers. */
final class CouchClientTest {
  private final Vertx vertx = Vertx.vertx();
  private final HttpCaller caller = new HttpCaller(vertx, ClientSettings.OF_COMMANDS);

  /** The method, the path and the credentials of each request. */
  private final List<String> seen = new CopyOnWriteArrayList<>();

  private final HttpServer server = serve();
  private final HttpServer other = serve();
  private volatile Function<HttpExchange, Told> answers = any -> new Told(200, Map.of(), "{}");

  private record Told(int status, Map<String, String> headers, String body) {}

  private HttpServer serve() {
    try {
      HttpServer made =
          HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
      made.createContext("/", this::answer);
      made.start();
      return made;
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private void answer(HttpExchange exchange) throws IOException {
    String cookie = exchange.getRequestHeaders().getFirst("Cookie");
    String basic = exchange.getRequestHeaders().getFirst("Authorization");
    seen.add(
        exchange.getRequestMethod()
            + ' '
            + exchange.getRequestURI().getPath()
            + (cookie == null ? "" : " cookie " + cookie)
            + (basic == null ? "" : " password"));
    exchange.getRequestBody().readAllBytes();
    Told told = answers.apply(exchange);
    told.headers().forEach(exchange.getResponseHeaders()::add);
    byte[] body = told.body().getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(told.status(), body.length == 0 ? -1 : body.length);
    exchange.getResponseBody().write(body);
    exchange.close();
  }

  @AfterEach
  void stop() {
    caller.close();
    server.stop(0);
    other.stop(0);
    vertx.close().await();
  }

  private CouchClient client(String user) {
    return client(caller, user);
  }

  private CouchClient client(HttpCaller caller, String user) {
    String url = "http://" + user + "127.0.0.1:" + server.getAddress().getPort() + "/db";
    return new CouchClient(
        caller,
        RemoteAddress.of(url, Map.of(), Optional.empty()),
        2,
        Duration.ofSeconds(20),
        () -> false);
  }

  private int get(CouchClient client) {
    return client.json("GET", "x", Optional.empty()).status();
  }

  @Test
  void a_password_is_exchanged_for_a_cookie_which_is_renewed_when_it_is_refused() {
    answers =
        exchange -> {
          boolean isLogIn = exchange.getRequestURI().getPath().equals("/_session");
          boolean isFirst = seen.stream().filter(it -> it.contains("_session")).count() == 1;
          String name = isFirst ? "one" : "two";
          String cookie = exchange.getRequestHeaders().getFirst("Cookie");
          return isLogIn
              ? new Told(200, Map.of("Set-Cookie", "AuthSession=" + name + "; Max-Age=600"), "{}")
              : new Told(
                  "AuthSession=one".equals(cookie) && seen.size() > 2 ? 401 : 200, Map.of(), "{}");
        };
    CouchClient client = client("me:secret@");

    assertThat(List.of(get(client), get(client))).containsExactly(200, 200);
    assertThat(seen)
        .containsExactly(
            "POST /_session",
            "GET /db/x cookie AuthSession=one",
            "GET /db/x cookie AuthSession=one",
            "POST /_session",
            "GET /db/x cookie AuthSession=two");
  }

  @Test
  void where_there_are_no_sessions_the_password_is_sent() {
    answers =
        exchange ->
            new Told(
                exchange.getRequestURI().getPath().equals("/_session") ? 404 : 200, Map.of(), "{}");

    get(client("me:secret@"));

    assertThat(seen).containsExactly("POST /_session", "GET /db/x password");
  }

  @Test
  void another_server_to_which_one_leads_gets_no_password() {
    String there = "http://127.0.0.1:" + other.getAddress().getPort() + "/moved";
    answers =
        exchange ->
            switch (exchange.getRequestURI().getPath()) {
              case "/_session" -> new Told(404, Map.of(), "{}");
              case "/db/x" -> new Told(302, Map.of("Location", there), "");
              default -> new Told(200, Map.of(), "{}");
            };

    assertThat(get(client("me:secret@"))).isEqualTo(200);
    assertThat(seen).containsExactly("POST /_session", "GET /db/x password", "GET /moved");
  }

  @Test
  void nobody_is_led_to_a_server_that_may_not_be_asked() {
    String there = "http://localhost:" + other.getAddress().getPort() + "/moved";
    answers = exchange -> new Told(302, Map.of("Location", there), "");
    AllowedHosts hosts = AllowedHosts.of(List.of(), List.of("localhost"));
    try (HttpCaller strict =
        new HttpCaller(vertx, new ClientSettings(hosts, true, Optional.empty(), 1))) {
      assertThatThrownBy(() -> get(client(strict, "")))
          .isInstanceOf(LectusException.class)
          .hasMessageContaining("may not send requests to localhost");
    }
    assertThat(seen).containsExactly("GET /db/x");
  }

  @Test
  void an_answer_that_is_too_long_is_not_read_to_its_end() {
    answers = exchange -> new Told(200, Map.of(), "x".repeat((16 << 20) + 1));

    assertThatThrownBy(() -> get(client("")))
        .isInstanceOf(RemoteFailure.class)
        .hasMessageContaining("more than 16777216 bytes");
  }

  /** Each takes fifty times its text. */
  @Test
  void an_answer_of_many_small_values_is_not_parsed() {
    AtomicInteger values = new AtomicInteger(100_000);
    answers = exchange -> new Told(200, Map.of(), "[" + "0,".repeat(values.get()) + "0]");

    assertThat(get(client(""))).isEqualTo(200);
    values.set(300_000);
    assertThatThrownBy(() -> get(client("")))
        .isInstanceOf(RemoteFailure.class)
        .hasMessageContaining("more than 16777216 bytes of memory");
  }

  @Test
  void a_feed_that_is_cut_off_may_be_asked_for_again() {
    answers =
        exchange -> {
          exchange.close();
          return new Told(200, Map.of(), "{}");
        };

    assertThatThrownBy(() -> client("").fetch("GET", "x", Optional.empty(), bytes -> true).join())
        .hasCauseInstanceOf(RemoteFailure.class);
  }

  @Test
  void redirections_without_end_are_not_followed() {
    answers = exchange -> new Told(302, Map.of("Location", "/again"), "");

    assertThatThrownBy(() -> get(client(""))).isInstanceOf(RemoteFailure.class);
  }

  @Test
  void what_may_pass_is_asked_again_and_no_more_often_than_wanted() {
    answers = exchange -> new Told(seen.size() < 3 ? 503 : 200, Map.of("Retry-After", "0"), "{}");
    assertThat(get(client(""))).isEqualTo(200);
    assertThat(seen).hasSize(3);

    seen.clear();
    answers = exchange -> new Told(429, Map.of(), "{}");
    assertThatThrownBy(() -> get(client("")))
        .isInstanceOfSatisfying(
            RemoteFailure.class, failure -> assertThat(failure.status()).isEqualTo(429));
    assertThat(seen).hasSize(3);
  }

  @Test
  void what_a_server_asks_for_as_a_pause_has_a_limit() {
    assertThat(CouchClient.pauseMillis(Optional.of("2"))).isEqualTo(2_000);
    assertThat(CouchClient.pauseMillis(Optional.of("999999"))).isEqualTo(60_000);
    assertThat(CouchClient.pauseMillis(Optional.of("Thu, 01 Jan 1970 00:00:00 GMT"))).isZero();
    assertThat(CouchClient.pauseMillis(Optional.of("soon"))).isZero();
  }

  @Test
  void a_failure_shows_no_password() {
    server.stop(0);

    assertThatThrownBy(() -> get(client("me:secret@")))
        .isInstanceOf(RemoteFailure.class)
        .hasMessageNotContaining("secret");
  }
}
