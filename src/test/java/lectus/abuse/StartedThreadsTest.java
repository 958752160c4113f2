package lectus.abuse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The JDK's common pool has one thread on two processors, and futures then do without it. */
final class StartedThreadsTest {
  private static final int DATABASES = 50;
  private static final Map<String, String> TWO_PROCESSORS =
      Map.of("JAVA_TOOL_OPTIONS", "-XX:ActiveProcessorCount=2");
  private static final Pattern STARTED =
      Pattern.compile("(?m)^jvm_threads_started_threads_total (\\S+)$");

  @TempDir private Path folder;
  private final HttpClient http = HttpClient.newHttpClient();

  @Test
  void creating_databases_starts_no_threads() throws Exception {
    assumeTrue(!TestStores.isCluster());
    try (ServerProcess server = ServerProcess.start(folder, 128, TWO_PROCESSORS)) {
      send(server, "PUT", "/first");
      int before = started(server);
      for (int i = 0; i < DATABASES; i++) {
        assertThat(send(server, "PUT", "/db" + i).statusCode()).isEqualTo(201);
      }
      for (int i = 0; i < DATABASES; i++) {
        assertThat(send(server, "DELETE", "/db" + i).statusCode()).isEqualTo(200);
      }
      // Pools that have been idle may start some.
      assertThat(started(server) - before).isLessThan(DATABASES / 2);
    }
  }

  private int started(ServerProcess server) throws IOException, InterruptedException {
    Matcher line = STARTED.matcher(send(server, "GET", "/_node/_local/_prometheus").body());
    assertThat(line.find()).isTrue();
    return (int) Double.parseDouble(line.group(1));
  }

  private HttpResponse<String> send(ServerProcess server, String method, String path)
      throws IOException, InterruptedException {
    URI target = URI.create("http://127.0.0.1:" + server.port() + path);
    return http.send(
        HttpRequest.newBuilder(target).method(method, BodyPublishers.noBody()).build(),
        BodyHandlers.ofString());
  }
}
