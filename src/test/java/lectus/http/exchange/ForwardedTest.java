package lectus.http.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Collections;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import lectus.config.ProxyKeys;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import lectus.http.testing.Request;
import lectus.http.testing.TestSettings;
import lectus.store.testing.LogLines;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Whom the server believes when a header says who asks, and how. */
final class ForwardedTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private static final Pattern CLIENT = Pattern.compile(" path=/w/x .* client=(\\S+) request=");

  @AutoClose private final LogLines log = LogLines.of("lectus.access");
  private LectusServer server;

  @AfterEach
  void stop() {
    if (server != null) {
      server.close();
    }
  }

  private void start(String trusted, String header) {
    TestSettings settings =
        new TestSettings()
            .with(ProxyKeys.TRUSTED_PROXIES, trusted)
            .with(ProxyKeys.FORWARDED_HEADER, header);
    server = LectusServer.start(stores.fresh(), settings);
    server.put("/w");
  }

  /** Returns where the document is, as the server says. */
  private String location(String... headers) {
    Request request = server.request("PUT", "/w/x");
    for (int i = 0; i < headers.length; i += 2) {
      request.header(headers[i], headers[i + 1]);
    }
    Answer answer = request.json("{}").send().expect(201);
    return answer.header("location");
  }

  /** Returns whose request it was, as the log says, after the server has stopped. */
  private String client() {
    server.close();
    server = null;
    return log.messages().stream()
        .flatMap(lines -> CLIENT.matcher(lines).results())
        .map((MatchResult found) -> found.group(1))
        .findFirst()
        .orElseThrow();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          X-Forwarded-Host  | db.example        | http://db.example/w/x
          X-Forwarded-Host  | db.example:8443   | http://db.example:8443/w/x
          X-Forwarded-Host  | 192.0.2.1         | http://192.0.2.1/w/x
          X-Forwarded-Host  | [2001:db8::1]:80  | http://[2001:db8::1]:80/w/x
          X-Forwarded-Proto | https             | https://host/w/x
          X-Forwarded-Proto | http              | http://host/w/x
          X-Forwarded-Proto | javascript        | http://host/w/x
          X-Forwarded-Ssl   | on                | https://host/w/x
          X-Forwarded-Ssl   | off               | http://host/w/x
          X-Forwarded-Host  | db.example/path   | http://host/w/x
          X-Forwarded-Host  | user@db.example   | http://host/w/x
          X-Forwarded-Host  | a, b              | http://host/w/x
          X-Forwarded-Host  | db.example:x      | http://host/w/x
          X-Forwarded-Path  | /prefix           | http://host/w/x
          """)
  void a_location_is_where_a_trusted_proxy_says(String header, String value, String location) {
    start("127.0.0.0/8", "x-forwarded");
    assertThat(location(header, value)).isEqualTo(location);
  }

  @Test
  void host_and_scheme_of_a_proxy_go_together() {
    start("10.0.0.0/8, 127.0.0.1", "x-forwarded");
    assertThat(location("X-Forwarded-Host", "db.example", "X-Forwarded-Proto", "https"))
        .isEqualTo("https://db.example/w/x");
  }

  @ParameterizedTest
  @CsvSource({"''", "10.0.0.0/8", "127.0.0.2", "::1"})
  void what_anybody_else_says_is_ignored(String trusted) {
    start(trusted, "x-forwarded");
    assertThat(
            location(
                "X-Forwarded-Host", "db.example",
                "X-Forwarded-Proto", "https",
                "X-Forwarded-Ssl", "on",
                "X-Forwarded-For", "192.0.2.1",
                "Forwarded", "for=192.0.2.1;host=db.example;proto=https"))
        .isEqualTo("http://host/w/x");
    assertThat(client()).isEqualTo("127.0.0.1");
  }

  /** What stands on the left was written by those who came to the proxies. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          192.0.2.1                      | 192.0.2.1
          192.0.2.1:4711                 | 192.0.2.1
          2001:DB8::1                    | 2001:db8:0:0:0:0:0:1
          [2001:db8::1]:4711             | 2001:db8:0:0:0:0:0:1
          6.6.6.6, 192.0.2.1             | 192.0.2.1
          6.6.6.6, 192.0.2.1, 10.1.2.3   | 192.0.2.1
          6.6.6.6, 192.0.2.1,10.1.2.3    | 192.0.2.1
          10.1.2.3                       | 10.1.2.3
          6.6.6.6, unknown               | 127.0.0.1
          6.6.6.6, unknown, 10.1.2.3     | 10.1.2.3
          6.6.6.6,                       | 127.0.0.1
          999.1.1.1                      | 127.0.0.1
          a status=200                   | 127.0.0.1
          .:.                            | 127.0.0.1
          localhost                      | 127.0.0.1
          """)
  void the_client_is_who_came_to_the_outermost_trusted_proxy(String sent, String client) {
    start("127.0.0.1, 10.0.0.0/8", "x-forwarded");
    location("X-Forwarded-For", sent);
    assertThat(client()).isEqualTo(client);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          for=192.0.2.1                                      | 192.0.2.1            | http://host
          For="[2001:db8::1]:4711";Proto=https               | 2001:db8:0:0:0:0:0:1 | https://host
          for=192.0.2.1; host="db.example:1" ;proto=https    | 192.0.2.1 | https://db.example:1
          for=6.6.6.6;host=evil, for=192.0.2.1;proto=https   | 192.0.2.1            | https://host
          for=6.6.6.6,for=192.0.2.1;host=a,for=10.0.0.1      | 192.0.2.1            | http://a
          for=_hidden;proto=https                            | 127.0.0.1            | https://host
          proto=https                                        | 127.0.0.1            | https://host
          for=192.0.2.1;host="a b";proto=gopher              | 192.0.2.1            | http://host
          for=192.0.2.1,                                     | 127.0.0.1            | http://host
          for="192.0.2.1                                     | 127.0.0.1            | http://host
          for=192.0.2.1 host=a                               | 127.0.0.1            | http://host
          ;;;                                                | 127.0.0.1            | http://host
          """)
  void the_standard_header_is_read_where_proxies_write_it(
      String sent, String client, String server) {
    start("127.0.0.1, 10.0.0.0/8", "forwarded");
    String location =
        location("Forwarded", sent, "X-Forwarded-For", "6.6.6.6", "X-Forwarded-Host", "evil");
    assertThat(location).isEqualTo(server + "/w/x");
    assertThat(client()).isEqualTo(client);
  }

  @Test
  void several_headers_are_one_list() {
    start("127.0.0.1, 10.0.0.0/8", "x-forwarded");
    location("X-Forwarded-For", "6.6.6.6", "X-Forwarded-For", "192.0.2.1, 10.0.0.1");
    assertThat(client()).isEqualTo("192.0.2.1");
  }

  @Test
  void a_long_list_of_proxies_is_read_from_its_end() {
    start("127.0.0.1", "x-forwarded");
    List<String> many = Collections.nCopies(1_000, "6.6.6.6");
    location("X-Forwarded-For", String.join(",", many) + ",192.0.2.1");
    assertThat(client()).isEqualTo("192.0.2.1");
  }
}
