package lectus.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import lectus.Lectus;
import lectus.http.testing.LectusServer;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

final class SampleCommandTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private final List<String> authorizations = new CopyOnWriteArrayList<>();

  /** Loads into a server that gives the same answer to everything, and stores nothing. */
  private int load(boolean terminal, String user, String path, String answer) throws IOException {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/",
        exchange -> {
          exchange.getRequestBody().readAllBytes();
          authorizations.add(
              exchange.getRequestURI()
                  + " "
                  + exchange.getRequestHeaders().getFirst("Authorization"));
          byte[] body = answer.getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(201, body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    server.start();
    try {
      int port = server.getAddress().getPort();
      return new CommandLine(new SampleCommand(terminal, name -> Optional.of("of " + name)))
          .setOut(new PrintWriter(out))
          .setErr(new PrintWriter(err))
          .execute("--url", "http://" + user + "127.0.0.1:" + port + path);
    } finally {
      server.stop(0);
    }
  }

  private int loadOn(boolean terminal) throws IOException {
    return load(terminal, "", "/u", "[]");
  }

  @Test
  void a_name_and_a_password_come_from_the_url_or_are_asked_for() throws IOException {
    assertThat(load(false, "root:a%3Ab@", "/u/", "[]")).isZero();
    assertThat(authorizations)
        .isNotEmpty()
        .allMatch(it -> it.endsWith(" " + basic("root:a:b")))
        .allMatch(it -> it.startsWith("/u ") || it.startsWith("/u/_bulk_docs "));
    assertThat(out.toString()).doesNotContain("root", "a%3Ab");
    authorizations.clear();

    assertThat(load(false, "ann@", "/u", "[]")).isZero();

    assertThat(authorizations).allMatch(it -> it.endsWith(" " + basic("ann:of ann")));
  }

  private static String basic(String both) {
    return "Basic " + Base64.getEncoder().encodeToString(both.getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void documents_that_are_not_stored_are_not_counted_as_loaded() throws IOException {
    String rows = "[{\"id\":\"U+0000\",\"error\":\"forbidden\",\"reason\":\"no\"}]";

    assertThat(load(false, "", "/u", rows)).isOne();

    assertThat(out.toString()).isEmpty();
    assertThat(err.toString()).contains("the server refused the document U+0000: forbidden, no");
  }

  @Test
  void documents_that_were_there_before_are_told_apart() throws IOException {
    assertThat(load(false, "", "/u", "[{\"id\":\"a\",\"error\":\"conflict\"}]")).isZero();

    assertThat(out.toString()).matches("Loaded \\d+ documents into \\S+, \\d+ of them before\\R");
  }

  @Test
  void the_users_database_takes_none_of_them() {
    try (LectusServer server = LectusServer.start(stores.fresh())) {
      Console console = new Console(new PrintWriter(out), new PrintWriter(err));
      String[] args = {"sample", "--url", server.url() + "/_users"};

      assertThat(Lectus.run(args, Map.of(), console)).isOne();

      assertThat(out.toString()).isEmpty();
      assertThat(err.toString()).contains("the server refused the document U+0000");
    }
  }

  @Test
  void a_terminal_shows_how_far_it_is() throws IOException {
    assertThat(loadOn(true)).isZero();
    assertThat(out.toString()).startsWith("1000 documents\r2000 documents\r").contains("\rLoaded ");
  }

  @Test
  void a_file_has_the_result_alone() throws IOException {
    assertThat(loadOn(false)).isZero();
    assertThat(out.toString()).startsWith("Loaded ").doesNotContain("\r2000");
    assertThat(err.toString()).startsWith("20000 documents so far");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://127.0.0.1:5984",
        "http://127.0.0.1:5984/",
        "http://127.0.0.1:5984/unicode?a=b",
        "http:///unicode",
        "ftp://127.0.0.1/unicode",
        "/unicode",
        "unicode",
        "mailto:unicode",
      })
  void a_url_without_a_database_is_a_sentence(String url) {
    Console console = new Console(new PrintWriter(out), new PrintWriter(err));

    int status = Lectus.run(new String[] {"sample", "--url", url}, Map.of(), console);

    assertThat(status).isOne();
    assertThat(err.toString())
        .hasLineCount(1)
        .startsWith("lectus: ")
        .containsPattern("--url has to name a database|is no URL of a server");
  }
}
