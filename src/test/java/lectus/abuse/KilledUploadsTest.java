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
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import lectus.audit.testing.SoundStore;
import lectus.store.EmbeddedStores;
import lectus.store.Store;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A server that is killed while attachments arrive shows none that is not whole. */
class KilledUploadsTest {
  private static final int ROUNDS = 2;
  private static final int UPLOADERS = 3;
  private static final int HEAP_MEGABYTES = 128;
  private static final int LONGEST = 2_000_000;

  private final HttpClient client = HttpClient.newHttpClient();
  private final Random random = new Random(7);
  private final AtomicInteger documents = new AtomicInteger();
  private final Map<String, byte[]> acknowledged = new ConcurrentHashMap<>();
  private final Map<String, byte[]> sent = new ConcurrentHashMap<>();

  @BeforeAll
  static void onlyEmbedded() {
    TestStores.onlyEmbedded();
    assumeTrue(ServerProcess.canBeWatched(), "This system has no /proc");
  }

  @Test
  void a_document_never_shows_an_attachment_that_is_not_wholly_there(@TempDir Path folder)
      throws Exception {
    for (int round = 0; round < ROUNDS; round++) {
      try (ServerProcess server = ServerProcess.start(folder, HEAP_MEGABYTES)) {
        send(server, "PUT", "/w", new byte[0]);
        assertShown(server);
        uploadUntilKilled(server);
      }
    }
    try (ServerProcess server = ServerProcess.start(folder, HEAP_MEGABYTES)) {
      assertShown(server);
      assertThat(acknowledged).isNotEmpty();
    }
    try (Store store = EmbeddedStores.open(ServerProcess.data(folder))) {
      SoundStore.assertSound(store);
    }
  }

  private void uploadUntilKilled(ServerProcess server) throws InterruptedException {
    List<Thread> uploaders = new ArrayList<>();
    for (int i = 0; i < UPLOADERS; i++) {
      long seed = random.nextLong();
      Thread uploader = new Thread(() -> upload(server, new Random(seed)));
      uploader.start();
      uploaders.add(uploader);
    }
    int enough = acknowledged.size() + 1 + random.nextInt(5);
    Await.until("some attachments are stored", () -> acknowledged.size() >= enough);
    server.close();
    for (Thread uploader : uploaders) {
      uploader.join();
    }
  }

  /** Some of the contents are the same, or begin alike. */
  private void upload(ServerProcess server, Random own) {
    while (server.isAlive()) {
      String id = "d" + documents.incrementAndGet();
      byte[] bytes = new byte[own.nextInt(LONGEST)];
      new Random(own.nextInt(5)).nextBytes(bytes);
      sent.put(id, bytes);
      try {
        if (send(server, "PUT", "/w/" + id + "/f", bytes).statusCode() == 201) {
          acknowledged.put(id, bytes);
        }
      } catch (IOException | InterruptedException killed) {
        return;
      }
    }
  }

  private void assertShown(ServerProcess server) throws IOException, InterruptedException {
    for (Map.Entry<String, byte[]> upload : sent.entrySet()) {
      HttpResponse<byte[]> got = send(server, "GET", "/w/" + upload.getKey() + "/f", null);
      if (got.statusCode() != 404 || acknowledged.containsKey(upload.getKey())) {
        assertThat(got.statusCode()).as(upload.getKey()).isEqualTo(200);
        assertThat(Arrays.equals(got.body(), upload.getValue())).as(upload.getKey()).isTrue();
      }
    }
  }

  private HttpResponse<byte[]> send(ServerProcess server, String method, String path, byte[] body)
      throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path))
            .method(
                method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofByteArray(body))
            .build();
    return client.send(request, BodyHandlers.ofByteArray());
  }
}
