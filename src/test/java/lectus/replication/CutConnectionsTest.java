package lectus.replication;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import lectus.audit.testing.SoundStore;
import lectus.http.testing.LectusServer;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Replications through a connection that is cut at random places, so that requests and answers are
 * lost, repeated, or half: every leaf arrives, and a checkpoint never passes one that has not.
 */
@Timeout(300)
final class CutConnectionsTest {
  @RegisterExtension
  static final TestStores stores = TestStores.endingWith(SoundStore::assertSound);

  private static final int ROUNDS = Integer.getInteger("lectus.test.replication-rounds", 6);
  private static final int ATTEMPTS = 200;

  private final LectusServer here = LectusServer.start(stores.fresh());
  private final LectusServer there = LectusServer.start(stores.fresh());

  @AfterEach
  void stop() {
    here.close();
    there.close();
  }

  static IntStream seeds() {
    return IntStream.range(0, ROUNDS);
  }

  /** Forwards connections, most of which it cuts after a random number of bytes. */
  private static final class CuttingProxy implements AutoCloseable {
    private final ServerSocket socket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final Random random;
    private final int target;

    CuttingProxy(int target, long seed) throws IOException {
      this.target = target;
      this.random = new Random(seed);
      start(this::accept);
    }

    int port() {
      return socket.getLocalPort();
    }

    private static void start(Runnable task) {
      Thread thread = new Thread(task, "cutting-proxy");
      thread.setDaemon(true);
      thread.start();
    }

    private void accept() {
      try {
        while (true) {
          Socket client = socket.accept();
          Socket server = new Socket(InetAddress.getLoopbackAddress(), target);
          boolean isCut = random.nextInt(4) > 0;
          int up = isCut ? 200 + random.nextInt(20_000) : Integer.MAX_VALUE;
          int down = isCut ? 200 + random.nextInt(60_000) : Integer.MAX_VALUE;
          start(() -> pass(client, server, up));
          start(() -> pass(server, client, down));
        }
      } catch (IOException closed) {
        // The test is over.
      }
    }

    private static void pass(Socket from, Socket to, int most) {
      try (from;
          to) {
        InputStream in = from.getInputStream();
        OutputStream out = to.getOutputStream();
        byte[] some = new byte[1_024];
        int left = most;
        while (left > 0) {
          int read = in.read(some, 0, Math.min(left, some.length));
          if (read < 0) {
            return;
          }
          out.write(some, 0, read);
          left -= read;
        }
      } catch (IOException cut) {
        // The other direction has ended.
      }
    }

    @Override
    public void close() {
      try {
        socket.close();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private static void write(LectusServer server, Random random, int round) {
    List<String> docs = new ArrayList<>();
    for (int i = 0; i < 150; i++) {
      String id = "d" + random.nextInt(200);
      String rev = (1 + random.nextInt(3)) + "-" + Integer.toHexString(random.nextInt(1 << 20));
      String data = "eHh4".repeat(1 + random.nextInt(2_000));
      String more =
          switch (random.nextInt(8)) {
            case 0 -> ",\"_deleted\":true";
            case 1 -> ",\"_attachments\":{\"a\":{\"data\":\"" + data + "\"}}";
            default -> ",\"round\":" + round;
          };
      docs.add("{\"_id\":\"" + id + "\",\"_rev\":\"" + rev + "\"" + more + "}");
    }
    assertThat(
            server
                .post(
                    "/w/_bulk_docs",
                    "{\"new_edits\":false,\"docs\":[" + String.join(",", docs) + "]}")
                .status())
        .isEqualTo(201);
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void every_leaf_arrives(int seed) throws IOException {
    Random random = new Random(seed);
    LectusServer source = seed % 2 == 0 ? there : here;
    LectusServer target = seed % 2 == 0 ? here : there;
    here.put("/w");
    there.put("/w");
    try (CuttingProxy proxy = new CuttingProxy(there.port(), seed)) {
      String remote = "\"http://127.0.0.1:" + proxy.port() + "/w\"";
      String ends =
          seed % 2 == 0
              ? "\"source\":" + remote + ",\"target\":\"w\""
              : "\"source\":\"w\",\"target\":" + remote;
      String body =
          "{"
              + ends
              + ",\"worker_batch_size\":20,\"checkpoint_interval\":20,\"retries_per_request\":1}";
      for (int round = 0; round < 3; round++) {
        write(source, random, round);
        int attempts = 1;
        while (here.post("/_replicate", body).status() != 200 && attempts < ATTEMPTS) {
          attempts++;
        }

        assertThat(leaves(target)).as("after %d attempts", attempts).isEqualTo(leaves(source));
      }
    }
  }

  private static List<String> leaves(LectusServer server) {
    return server
        .get("/w/_changes?style=all_docs")
        .body()
        .lines()
        .filter(row -> row.contains("\"id\""))
        .map(row -> row.substring(row.indexOf("\"id\"")).replaceAll(",$", ""))
        .sorted()
        .toList();
  }
}
