package lectus.http.exchange;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import lectus.http.testing.LectusServer;
import lectus.store.WatchedStore;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Requests that share a connection over HTTP/2. */
final class SharedConnectionTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  /** 16 MB: more than the client buffers before anybody reads it. */
  private static final int DOCUMENTS = 300;

  private final WatchedStore store = new WatchedStore(stores.fresh(), "lectus-reader");
  @AutoClose private final LectusServer server = LectusServer.start(store.store());
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_2).build();

  private HttpRequest request(String target) {
    return HttpRequest.newBuilder(URI.create(server.url() + target)).build();
  }

  @Test
  void an_answer_that_breaks_off_does_not_concern_the_others() throws Exception {
    server.put("/w");
    for (int i = 0; i < DOCUMENTS; i++) {
      server.write("/w/d" + i, "{\"v\":\"" + "x".repeat(90_000) + "\"}");
    }
    assertThat(client.send(request("/_up"), BodyHandlers.ofString()).version())
        .isEqualTo(HttpClient.Version.HTTP_2);
    HttpResponse<InputStream> feed =
        client.send(
            request("/w/_changes?feed=continuous&since=now&heartbeat=60000"),
            BodyHandlers.ofInputStream());
    try (BufferedReader lines =
        new BufferedReader(new InputStreamReader(feed.body(), StandardCharsets.UTF_8))) {
      assertThat(feed.version()).isEqualTo(HttpClient.Version.HTTP_2);
      HttpResponse<InputStream> list =
          client.send(request("/w/_all_docs?include_docs=true"), BodyHandlers.ofInputStream());
      store.breakDown(true);
      assertThatThrownBy(() -> list.body().readAllBytes()).isInstanceOf(IOException.class);
      store.breakDown(false);

      server.write("/w/new", "{}");
      assertThat(lines.readLine()).contains("\"id\":\"new\"");
    }
  }
}
