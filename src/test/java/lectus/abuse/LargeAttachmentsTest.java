package lectus.abuse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import lectus.attachment.SweptStore;
import lectus.store.EmbeddedStores;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Attachments that are longer than the heap. A gigabyte: {@code
 * -Dlectus.test.attachment-megabytes=1000}.
 */
class LargeAttachmentsTest {
  private static final int HEAP_MEGABYTES = 96;
  private static final long TOTAL =
      Long.getLong("lectus.test.attachment-megabytes", 2L * HEAP_MEGABYTES) * 1_000_000;

  private final HttpClient client = HttpClient.newHttpClient();

  @BeforeAll
  static void onlyEmbedded() {
    TestStores.onlyEmbedded();
    assumeTrue(ServerProcess.canBeWatched(), "This system has no /proc");
  }

  @Test
  void they_go_in_and_out(@TempDir Path folder) throws Exception {
    try (ServerProcess server = ServerProcess.start(folder, HEAP_MEGABYTES)) {
      assertThat(put(server, "/w", BodyPublishers.noBody())).isEqualTo(201);
      assertThat(put(server, "/w/doc/f", bytes())).isEqualTo(201);
      assertGot(server, "/w/doc/f");
      assertThat(server.log()).noneMatch(line -> line.contains("OutOfMemory"));
    }
    try (Store store = EmbeddedStores.open(ServerProcess.data(folder))) {
      SweptStore.assertClean(store, "w");
    }
  }

  private static BodyPublisher bytes() {
    return BodyPublishers.fromPublisher(
        BodyPublishers.ofInputStream(() -> new CountedBytes(TOTAL)), TOTAL);
  }

  private int put(ServerProcess server, String path, BodyPublisher body)
      throws IOException, InterruptedException {
    HttpRequest request = request(server, path).PUT(body).build();
    return client.send(request, BodyHandlers.discarding()).statusCode();
  }

  private static HttpRequest.Builder request(ServerProcess server, String path) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path));
  }

  private void assertGot(ServerProcess server, String path)
      throws IOException, InterruptedException {
    HttpResponse<InputStream> got =
        client.send(request(server, path).build(), BodyHandlers.ofInputStream());
    assertThat(got.statusCode()).isEqualTo(200);
    try (InputStream found = got.body();
        InputStream expected = new CountedBytes(TOTAL)) {
      byte[] piece = found.readNBytes(CountedBytes.PERIOD);
      while (piece.length > 0) {
        assertThat(piece).isEqualTo(expected.readNBytes(piece.length));
        piece = found.readNBytes(CountedBytes.PERIOD);
      }
      assertThat(expected.read()).isNegative();
    }
  }
}
