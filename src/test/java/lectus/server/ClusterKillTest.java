package lectus.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.NavigableSet;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import lectus.audit.testing.SoundStore;
import lectus.http.testing.LectusServer;
import lectus.http.testing.TestSettings;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A real FoundationDB cluster that is frozen, or whose processes are killed, under a writer. Only
 * on a cluster of this machine that is there for nothing else, which {@code
 * -Dlectus.test.kill-cluster=true} says. Something, such as fdbmonitor, has to restart what is
 * killed.
 */
@Timeout(300)
final class ClusterKillTest {
  private static final String SERVER_PROCESS = "fdbserver";
  private static final int KILLS = 5;
  private static final int WRITES_BETWEEN = 50;

  @RegisterExtension
  static final TestStores stores = TestStores.endingWith(SoundStore::assertSound);

  private final AtomicBoolean isOver = new AtomicBoolean();
  private final AtomicInteger answered = new AtomicInteger();
  private final NavigableSet<String> stored = new ConcurrentSkipListSet<>();
  private LectusServer server;
  private Thread writer;

  @BeforeEach
  void start() {
    TestStores.onlyCluster();
    assumeTrue(
        Boolean.getBoolean("lectus.test.kill-cluster"), "only where a cluster may be killed");
    server = LectusServer.start(stores.fresh(), new TestSettings().requestSeconds(2));
    assertThat(server.put("/w").status()).isEqualTo(201);
    writer = new Thread(this::write, "writer");
    writer.start();
    awaitWrites();
  }

  @AfterEach
  void stop() throws InterruptedException {
    isOver.set(true);
    if (writer != null) {
      writer.join();
      server.close();
    }
  }

  /** Writes one document after the other and notes those that were acknowledged. */
  private void write() {
    for (int i = 0; !isOver.get(); i++) {
      String id = "d" + i;
      int status = server.put("/w/" + id, "{}").status();
      assertThat(status).isIn(201, 503);
      if (status == 201) {
        stored.add(id);
        answered.incrementAndGet();
      }
    }
  }

  private void awaitWrites() {
    int until = answered.get() + WRITES_BETWEEN;
    Await.until("writes are acknowledged", () -> answered.get() >= until);
  }

  @Test
  void while_the_cluster_is_frozen_requests_are_refused_in_time_and_nothing_is_lost()
      throws IOException, InterruptedException {
    signal("STOP");
    try {
      Await.until("the server knows", () -> server.get("/_up").status() == 503);
      assertThat(server.get("/w/d0?revs=true").status()).isEqualTo(503);
    } finally {
      signal("CONT");
    }
    awaitWrites();
    assertAllStored();
  }

  @Test
  void no_acknowledged_write_is_lost_while_processes_are_killed()
      throws IOException, InterruptedException {
    for (int i = 0; i < KILLS; i++) {
      signal("KILL");
      awaitWrites();
    }
    assertAllStored();
  }

  private void assertAllStored() throws InterruptedException {
    isOver.set(true);
    writer.join();
    stored.forEach(id -> assertThat(server.get("/w/" + id).status()).as(id).isEqualTo(200));
  }

  private static void signal(String name) throws IOException, InterruptedException {
    List<Long> processes =
        ProcessHandle.allProcesses()
            .filter(process -> isServer(process.info()))
            .map(ProcessHandle::pid)
            .toList();
    assertThat(processes).isNotEmpty();
    for (long process : processes) {
      new ProcessBuilder("kill", "-" + name, Long.toString(process)).inheritIO().start().waitFor();
    }
  }

  private static boolean isServer(ProcessHandle.Info process) {
    return process
        .command()
        .map(command -> Path.of(command).getFileName().toString())
        .filter(SERVER_PROCESS::equals)
        .isPresent();
  }
}
