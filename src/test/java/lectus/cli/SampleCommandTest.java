package lectus.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Map;
import lectus.Lectus;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

final class SampleCommandTest {
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  /** Loads into a server that accepts everything and stores nothing. */
  private int loadOn(boolean terminal) throws IOException {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/",
        exchange -> {
          exchange.getRequestBody().readAllBytes();
          exchange.sendResponseHeaders(201, -1);
          exchange.close();
        });
    server.start();
    try {
      return new CommandLine(new SampleCommand(terminal))
          .setOut(new PrintWriter(out))
          .execute("--url", "http://127.0.0.1:" + server.getAddress().getPort() + "/u");
    } finally {
      server.stop(0);
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
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://127.0.0.1:5984",
        "http://127.0.0.1:5984/",
        "http://127.0.0.1:5984/unicode/",
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
        .isEqualToIgnoringNewLines(
            "lectus: --url has to name a database, such as http://127.0.0.1:5984/unicode"
                + " (--help lists what there is)");
  }
}
