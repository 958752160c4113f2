package lectus;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import lectus.abuse.ServerProcess;
import lectus.audit.testing.SoundStore;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.Request;
import lectus.store.EmbeddedStores;
import lectus.store.Store;
import lectus.store.testing.Await;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code POST /_node/_local/_restart}: a server in a process of its own lives once more. */
final class RestartTest {
  private static final String RESTART = "/_node/_local/_restart";

  /** Writers leave the processors to the server while it restarts. */
  private static final long RETRY_NANOS = 10_000_000;

  @TempDir private Path folder;

  @AutoClose private ServerProcess server;

  @BeforeEach
  void start() {
    Assumptions.assumeTrue(ServerProcess.canBeWatched());
    server = ServerProcess.start(folder, 256);
  }

  private Answer send(String method, String target) {
    return new Request(server.port(), method, target).send();
  }

  private Answer put(String target, String json) {
    return new Request(server.port(), "PUT", target).json(json).send();
  }

  private long lives() {
    return server.log().stream().filter(line -> line.contains("Lectus listens on")).count();
  }

  private void restart() {
    long before = lives();
    send("POST", RESTART).expect(200, "{\"ok\":true}\n");
    Await.until("it lives again", () -> lives() > before);
  }

  private double figure(String name) {
    return send("GET", "/_node/_local/_prometheus")
        .body()
        .lines()
        .filter(line -> line.startsWith(name + " "))
        .mapToDouble(line -> Double.parseDouble(line.substring(name.length() + 1)))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void what_was_acknowledged_is_there_afterwards() {
    put("/w", "{}");
    Set<String> acknowledged = ConcurrentHashMap.newKeySet();
    AtomicBoolean enough = new AtomicBoolean();
    List<CompletableFuture<Void>> writers =
        IntStream.range(0, 8)
            .mapToObj(
                writer ->
                    CompletableFuture.runAsync(
                        () -> write(writer, enough, acknowledged),
                        task -> new Thread(task).start()))
            .toList();
    for (int life = 0; life < 2; life++) {
      int before = acknowledged.size();
      Await.until("writes are on their way", () -> acknowledged.size() > before + 50);
      restart();
    }
    int before = acknowledged.size();
    Await.until("writes go on", () -> acknowledged.size() > before + 50);
    enough.set(true);
    writers.forEach(CompletableFuture::join);

    String all = send("GET", "/w/_all_docs").body();
    assertThat(acknowledged).allMatch(id -> all.contains("\"id\":\"" + id + "\""));
    assertThat(server.log()).noneMatch(line -> line.contains(" ERROR "));
    assertThat(server.stop(60)).isEqualTo(128 + 15);
    try (Store store = EmbeddedStores.open(ServerProcess.data(folder))) {
      SoundStore.assertSound(store);
    }
  }

  /** Writes one document after the other; whoever is not answered tries the next. */
  private void write(int writer, AtomicBoolean enough, Set<String> acknowledged) {
    for (int i = 0; !enough.get(); i++) {
      String id = writer + "-" + i;
      try {
        if (put("/w/" + id, "{}").status() == 201) {
          acknowledged.add(id);
        }
      } catch (UncheckedIOException notServed) {
        LockSupport.parkNanos(RETRY_NANOS);
      }
    }
  }

  @Test
  void feeds_end_in_order_and_go_on_where_they_ended() {
    put("/w", "{}");
    put("/w/a", "{}");
    String last = send("GET", "/w").member("update_seq");
    try (Connection feed =
        new Request(server.port(), "GET", "/w/_changes?feed=continuous&since=now&heartbeat=60000")
            .open()) {
      feed.readHead();
      restart();

      assertThat(feed.chunkText()).startsWith("{\"last_seq\":\"" + last + "\"");
      assertThat(feed.chunkText()).isEmpty();
    }
    put("/w/b", "{}");
    assertThat(send("GET", "/w/_changes?since=" + last).body())
        .contains("\"id\":\"b\"")
        .doesNotContain("\"id\":\"a\"");
  }

  @Test
  void everything_begins_anew_and_nothing_is_left_behind() {
    restart();
    int threads = server.threads();
    int sockets = server.sockets();
    double files = figure("process_files_open_files");
    for (int life = 0; life < 2; life++) {
      restart();
    }

    assertThat(server.threads()).isLessThanOrEqualTo(threads + 4);
    assertThat(server.sockets()).isLessThanOrEqualTo(sockets + 2);
    assertThat(figure("process_files_open_files")).isLessThan(files + 16);
    assertThat(lives()).isEqualTo(4);
    send("GET", RESTART).expect(405);
    send("POST", RESTART + "/x").expect(404);
    send("GET", "/_up").expect(200);
  }

  @Test
  void a_server_that_is_told_to_end_while_it_restarts_ends() {
    send("POST", RESTART).expect(200);
    Await.until(
        "it restarts", () -> server.log().stream().anyMatch(line -> line.contains("restarts")));

    assertThat(server.stop(60)).isEqualTo(128 + 15);
  }
}
