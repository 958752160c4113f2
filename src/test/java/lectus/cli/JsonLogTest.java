package lectus.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.List;
import lectus.abuse.ServerProcess;
import lectus.http.testing.Connection;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** All that a process writes on its standard output. */
final class JsonLogTest {
  @TempDir private Path folder;

  @Test
  void every_line_of_a_server_is_json_from_the_first_to_the_last() {
    assumeThat(ServerProcess.canBeWatched()).isTrue();
    try (ServerProcess server = ServerProcess.start(folder, 64, "log.format=json")) {
      try (Connection client = new Connection(server.port())) {
        client.write("GET /_up HTTP/1.1\r\nHost: host\r\n\r\n");
        assertThat(client.readHead().status()).isEqualTo(200);
      }
      server.stop(60);
      List<JsonObject> lines = server.log().stream().map(JsonObject::new).toList();
      assertThat(lines.get(0).getString("message"))
          .isEqualTo("Lectus listens on http://127.0.0.1:" + server.port() + "/");
      assertThat(lines).anyMatch(line -> "/_up".equals(line.getString("path")));
      assertThat(lines).allMatch(line -> line.getInstant("time") != null);
    }
  }
}
