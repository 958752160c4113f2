package lectus.clients.replicator;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lectus.clients.replicator.RemoteDatabase.RelatedBody;

/**
 * Sends requests to one database like CouchDB's replicator: with the headers of {@code
 * couch_replicator_httpc}, and with a session if the URL names a user ({@code
 * couch_replicator_auth_session}).
 */
final class ReplicatorHttp {
  private static final HttpClient SHARED = newClient();
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  /** {@code retries_per_request}: how often a request that failed with 500 or more is repeated. */
  private static final int RETRIES = 5;

  private static final String USER_AGENT = "CouchDB-Replicator/3.5.2";
  private static final Pattern COOKIE = Pattern.compile("(?i)AuthSession=([^;]*).*");

  private final URI database;
  private HttpClient client = SHARED;
  private Optional<String> cookie = Optional.empty();

  private ReplicatorHttp(URI database) {
    this.database = database;
  }

  /**
   * Opens a session first, if there is a name and a password.
   *
   * @param url of a database, without a slash at the end
   */
  static ReplicatorHttp to(String url) {
    URI given = URI.create(url + '/');
    String user = given.getUserInfo();
    if (user == null) {
      return new ReplicatorHttp(given);
    }
    ReplicatorHttp http =
        new ReplicatorHttp(URI.create(given.toString().replace(given.getRawUserInfo() + '@', "")));
    http.openSession(user.substring(0, user.indexOf(':')), user.substring(user.indexOf(':') + 1));
    return http;
  }

  /** Returns the database's URL, without credentials. */
  String url() {
    return database.toString();
  }

  /** Returns the session of the requests; empty without credentials. */
  Optional<String> session() {
    return cookie;
  }

  private void openSession(String name, String password) {
    byte[] form =
        ("name=" + quoted(name) + "&password=" + quoted(password)).getBytes(StandardCharsets.UTF_8);
    HttpRequest request =
        HttpRequest.newBuilder(database.resolve("/_session"))
            .timeout(PATIENCE)
            .header("User-Agent", USER_AGENT)
            .header("Content-Type", "application/x-www-form-urlencoded")
            .POST(BodyPublishers.ofByteArray(form))
            .build();
    HttpResponse<byte[]> response = answer(request, BodyHandlers.ofByteArray());
    assertThat(response.statusCode()).as("POST /_session").isEqualTo(200);
    assertThat(cookie).as("AuthSession in %s", response.headers().map()).isPresent();
  }

  Reply get(String path) {
    return send("GET", path, Map.of(), BodyPublishers.noBody());
  }

  Reply put(String path) {
    return send("PUT", path, Map.of(), BodyPublishers.noBody());
  }

  Reply get(String path, Map<String, String> headers) {
    return send("GET", path, headers, BodyPublishers.noBody());
  }

  /** Adds a JSON content type. */
  Reply post(String path, Map<String, String> headers, String json) {
    return send("POST", path, json(headers), BodyPublishers.ofString(json));
  }

  /** Has no body, but a JSON content type. */
  Reply post(String path) {
    return send("POST", path, json(Map.of()), BodyPublishers.noBody());
  }

  /** Adds a JSON content type. */
  Reply put(String path, Map<String, String> headers, String json) {
    return send("PUT", path, json(headers), BodyPublishers.ofString(json));
  }

  /** Sends a document with its attachments behind it. */
  Reply putParts(String path, RelatedBody body) {
    return send(
        "PUT",
        path,
        Map.of("Content-Type", body.contentType()),
        BodyPublishers.ofByteArray(body.bytes()));
  }

  /** Returns an answer that is read while it arrives. */
  InputStream stream(String method, String path, Optional<String> json) {
    HttpRequest request =
        request(
            method,
            path,
            json.isPresent() ? json(Map.of()) : Map.of(),
            json.map(BodyPublishers::ofString).orElse(BodyPublishers.noBody()));
    HttpResponse<InputStream> response = answer(request, BodyHandlers.ofInputStream());
    assertThat(response.statusCode()).as("%s %s", method, path).isEqualTo(200);
    return response.body();
  }

  private Reply send(
      String method, String path, Map<String, String> headers, HttpRequest.BodyPublisher body) {
    HttpResponse<byte[]> response =
        answer(request(method, path, headers, body), BodyHandlers.ofByteArray());
    return new Reply(
        method + ' ' + path, response.statusCode(), response.headers(), response.body());
  }

  private HttpRequest request(
      String method, String path, Map<String, String> headers, HttpRequest.BodyPublisher body) {
    Map<String, String> all = new LinkedHashMap<>();
    all.put("Accept", "application/json");
    all.put("User-Agent", USER_AGENT);
    all.putAll(headers);
    cookie.ifPresent(value -> all.put("Cookie", "AuthSession=" + value));
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(database + path)).timeout(PATIENCE).method(method, body);
    all.forEach(request::header);
    return request.build();
  }

  private <T> HttpResponse<T> answer(HttpRequest request, BodyHandler<T> bodies) {
    try {
      HttpResponse<T> response = client.send(request, bodies);
      for (int again = 0; again < RETRIES && response.statusCode() >= 500; again++) {
        response = client.send(request, bodies);
      }
      assertThat(response.statusCode()).as(request.toString()).isLessThan(500);
      if (response.statusCode() == 413) {
        client = newClient();
      } else if (response.statusCode() < 300) {
        keepCookie(response.headers());
      }
      return response;
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(request.toString(), e);
    }
  }

  /** Connections are reused, except after a 413. */
  private static HttpClient newClient() {
    return HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  }

  /** Any answer may set another cookie. */
  private void keepCookie(HttpHeaders headers) {
    headers.allValues("Set-Cookie").stream()
        .map(COOKIE::matcher)
        .filter(Matcher::matches)
        .findFirst()
        .ifPresent(match -> cookie = Optional.of(match.group(1)));
  }

  private static Map<String, String> json(Map<String, String> headers) {
    Map<String, String> all = new LinkedHashMap<>(headers);
    all.put("Content-Type", "application/json");
    return all;
  }

  /** Encodes as in a query or a form: a space becomes a plus. */
  static String quoted(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("*", "%2A");
  }

  /**
   * An answer.
   *
   * @param request the request that it answers
   */
  record Reply(String request, int status, HttpHeaders headers, byte[] body) {
    JsonObject object() {
      return new JsonObject(text());
    }

    JsonArray array() {
      return new JsonArray(text());
    }

    String text() {
      return new String(body, StandardCharsets.UTF_8);
    }

    Reply expecting(int wanted) {
      assertThat(status).as("%s: %.200s", request, text()).isEqualTo(wanted);
      return this;
    }
  }
}
