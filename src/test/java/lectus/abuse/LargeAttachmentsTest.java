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
  private static final int PIECES = 3;

  private final HttpClient client = HttpClient.newHttpClient();

  @BeforeAll
  static void onlyEmbedded() {
    TestStores.onlyEmbedded();
    assumeTrue(ServerProcess.canBeWatched(), "This system has no /proc");
  }

  @Test
  void they_go_in_and_out_whole_and_in_pieces(@TempDir Path folder) throws Exception {
    try (ServerProcess server = ServerProcess.start(folder, HEAP_MEGABYTES)) {
      assertThat(put(server, "/w", BodyPublishers.noBody())).isEqualTo(201);
      assertThat(put(server, "/w/whole/f", bytes(1, 0, TOTAL))).isEqualTo(201);
      assertGot(server, "/w/whole/f", 1);

      for (int i = 0; i < PIECES; i++) {
        long from = i * TOTAL / PIECES;
        long to = (i + 1) * TOTAL / PIECES;
        String range = "bytes " + from + "-" + (to - 1) + "/" + TOTAL;
        int status =
            put(server, "/w/pieces/f?upload=u", bytes(2, from, to), "Content-Range", range);
        assertThat(status).isEqualTo(i < PIECES - 1 ? 202 : 201);
      }
      assertGot(server, "/w/pieces/f", 2);
      assertThat(server.log()).noneMatch(line -> line.contains("OutOfMemory"));
    }
    try (Store store = EmbeddedStores.open(ServerProcess.data(folder))) {
      SweptStore.assertClean(store, "w");
    }
  }

  private static BodyPublisher bytes(int seed, long from, long to) {
    return BodyPublishers.fromPublisher(
        BodyPublishers.ofInputStream(() -> new CountedBytes(seed, from, to)), to - from);
  }

  private int put(ServerProcess server, String path, BodyPublisher body, String... headers)
      throws IOException, InterruptedException {
    HttpRequest.Builder request = request(server, path).PUT(body);
    if (headers.length > 0) {
      request.headers(headers);
    }
    return client.send(request.build(), BodyHandlers.discarding()).statusCode();
  }

  private static HttpRequest.Builder request(ServerProcess server, String path) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path));
  }

  private void assertGot(ServerProcess server, String path, int seed)
      throws IOException, InterruptedException {
    HttpResponse<InputStream> got =
        client.send(request(server, path).build(), BodyHandlers.ofInputStream());
    assertThat(got.statusCode()).isEqualTo(200);
    try (InputStream found = got.body();
        InputStream expected = new CountedBytes(seed, 0, TOTAL)) {
      byte[] piece = found.readNBytes(CountedBytes.PERIOD);
      while (piece.length > 0) {
        assertThat(piece).isEqualTo(expected.readNBytes(piece.length));
        piece = found.readNBytes(CountedBytes.PERIOD);
      }
      assertThat(expected.read()).isNegative();
    }
  }
}
