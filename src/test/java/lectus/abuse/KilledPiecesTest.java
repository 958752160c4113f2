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
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import lectus.attachment.AttachmentKeys;
import lectus.attachment.SweptStore;
import lectus.audit.testing.SoundStore;
import lectus.store.EmbeddedStores;
import lectus.store.Store;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Uploads in pieces go on when their server was killed amid them. More kills: {@code
 * -Dlectus.test.upload-kills=50}; other ones: {@code -Dlectus.test.seed=…}.
 */
class KilledPiecesTest {
  private static final int KILLS = Integer.getInteger("lectus.test.upload-kills", 2);
  private static final long SEED = Long.getLong("lectus.test.seed", 15);
  private static final int HEAP_MEGABYTES = 128;
  private static final int CLIENTS = 3;
  private static final int LONGEST = 3_000_000;
  private static final int LONGEST_PIECE = 800_000;

  /** More than the pieces of all uploads between two kills. */
  private static final int MOST_PIECES = 12;

  private final HttpClient client = HttpClient.newHttpClient();
  private final Random random = new Random(SEED);
  private final AtomicInteger begun = new AtomicInteger();
  private final List<Upload> finished = new ArrayList<>();

  /** An attachment of one document, and what is to arrive. */
  private record Upload(String path, byte[] bytes) {}

  @BeforeAll
  static void onlyEmbedded() {
    TestStores.onlyEmbedded();
    assumeTrue(ServerProcess.canBeWatched(), "This system has no /proc");
  }

  @Test
  void clients_go_on_and_nothing_is_lost_or_left(@TempDir Path folder) throws Exception {
    List<Uploader> uploaders = new ArrayList<>();
    for (int i = 0; i < CLIENTS; i++) {
      uploaders.add(new Uploader(i, new Random(random.nextLong())));
    }
    for (int kill = 0; kill <= KILLS; kill++) {
      boolean isLast = kill == KILLS;
      try (ServerProcess server = ServerProcess.start(folder, HEAP_MEGABYTES)) {
        send(server, "PUT", "/w", new byte[0]);
        int enough = begun.get() + 1 + random.nextInt(MOST_PIECES);
        run(server, uploaders, isLast, enough);
        if (isLast) {
          assertFinished(server);
          send(server, "PUT", "/w/never/f?upload=x", new byte[9], "bytes 0-8/99");
        }
      }
    }
    try (Store store = EmbeddedStores.open(ServerProcess.data(folder))) {
      SoundStore.assertSound(store);
      assertThat(SweptStore.rows(store, "w", AttachmentKeys.RESUMABLES)).isPositive();
      SweptStore.assertClean(store, "w");
    }
  }

  /** All uploads are finished by the server that is not killed. */
  private void run(ServerProcess server, List<Uploader> uploaders, boolean isLast, int enough)
      throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(CLIENTS);
    List<Future<?>> running = new ArrayList<>();
    for (Uploader uploader : uploaders) {
      running.add(threads.submit(() -> uploader.run(server, isLast)));
    }
    if (!isLast) {
      Await.until("pieces are on their way", () -> begun.get() >= enough);
      server.close();
    }
    for (Future<?> each : running) {
      each.get();
    }
    threads.shutdown();
  }

  private void assertFinished(ServerProcess server) throws IOException, InterruptedException {
    assertThat(finished).hasSizeGreaterThanOrEqualTo(CLIENTS);
    for (Upload upload : finished) {
      HttpResponse<byte[]> got = send(server, "GET", upload.path(), new byte[0]);
      assertThat(got.statusCode()).as(upload.path()).isEqualTo(200);
      assertThat(Arrays.equals(got.body(), upload.bytes())).as(upload.path()).isTrue();
    }
  }

  private HttpResponse<byte[]> send(
      ServerProcess server, String method, String path, byte[] body, String... range)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path))
            .method(method, BodyPublishers.ofByteArray(body));
    for (String each : range) {
      request.header("Content-Range", each);
    }
    return client.send(request.build(), BodyHandlers.ofByteArray());
  }

  /** Sends one upload after the other, and goes on with one that was interrupted. */
  private final class Uploader {
    private final int number;
    private final Random own;
    private Upload current;
    private int uploads;

    Uploader(int number, Random own) {
      this.number = number;
      this.own = own;
      begin();
    }

    private void begin() {
      byte[] bytes = new byte[1 + own.nextInt(LONGEST)];
      own.nextBytes(bytes);
      current = new Upload("/w/d" + number + "-" + uploads++ + "/f", bytes);
    }

    /** Goes on until the server is killed, or until its upload is finished. */
    void run(ServerProcess server, boolean isLast) {
      try {
        boolean more = true;
        while (more) {
          while (!step(server)) {
            continue;
          }
          synchronized (finished) {
            finished.add(current);
          }
          begin();
          more = !isLast;
        }
      } catch (IOException | InterruptedException killed) {
        assertThat(isLast).as("the last server lives").isFalse();
      }
    }

    /** Returns whether the document shows the attachment. */
    private boolean step(ServerProcess server) throws IOException, InterruptedException {
      String path = current.path() + "?upload=u" + number + "-" + uploads;
      HttpResponse<byte[]> state = send(server, "GET", path, new byte[0]);
      boolean isShown = send(server, "HEAD", current.path(), new byte[0]).statusCode() == 200;
      if (isShown) {
        return true;
      }
      int from = state.statusCode() == 200 ? received(state) : 0;
      int total = current.bytes().length;
      int to = Math.min(total, from + 1 + own.nextInt(LONGEST_PIECE));
      String range = from == total ? "*" : from + "-" + (to - 1);
      begun.incrementAndGet();
      HttpResponse<byte[]> sent =
          send(
              server,
              "PUT",
              path,
              Arrays.copyOfRange(current.bytes(), from, to),
              "bytes " + range + "/" + total);
      assertThat(sent.statusCode()).isIn(201, 202);
      return sent.statusCode() == 201;
    }

    private static int received(HttpResponse<byte[]> state) {
      String json = new String(state.body(), StandardCharsets.UTF_8);
      return Integer.parseInt(json.replaceAll("(?s).*\"received\":(\\d+).*", "$1"));
    }
  }
}
