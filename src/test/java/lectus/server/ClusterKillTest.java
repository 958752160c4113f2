package lectus.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import lectus.audit.testing.SoundStore;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import lectus.http.testing.TestSettings;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A real FoundationDB cluster that is frozen, or whose processes are killed, under writers. Only on
 * a cluster of this machine that is there for nothing else, which {@code
 * -Dlectus.test.kill-cluster=true} says. Something has to restart what is killed within seconds:
 * fdbmonitor does with a {@code restart-delay} of 1.
 */
final class ClusterKillTest {
  private static final String SERVER_PROCESS = "fdbserver";
  private static final int KILLS = 10;
  private static final int WRITERS = 4;
  private static final int WRITES_BETWEEN = 50;

  /** After a write that failed. A refusal takes no time. */
  private static final Duration REST = Duration.ofMillis(100);

  /** Of the 503 after which a write may have been stored. */
  private static final String IN_DOUBT = "may have been stored";

  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private final AtomicBoolean isOver = new AtomicBoolean();
  private final Map<String, String> acknowledged = new ConcurrentHashMap<>();
  private final NavigableSet<String> refused = new ConcurrentSkipListSet<>();
  private final Collection<Answer> unexpected = new CopyOnWriteArrayList<>();
  private final List<Thread> writers = new ArrayList<>();
  private LectusServer server;

  @BeforeEach
  void start() {
    TestStores.onlyCluster();
    assumeTrue(
        Boolean.getBoolean("lectus.test.kill-cluster"), "only where a cluster may be killed");
    server = LectusServer.start(stores.fresh(), new TestSettings().requestSeconds(2));
    server.put("/w").expect(201);
    for (int i = 0; i < WRITERS; i++) {
      String prefix = "w" + i + "-";
      Thread writer = new Thread(() -> write(prefix), "writer " + i);
      writers.add(writer);
      writer.start();
    }
    awaitWrites();
  }

  @AfterEach
  void stop() throws InterruptedException {
    endWriters();
    if (server != null) {
      server.close();
    }
  }

  private void endWriters() throws InterruptedException {
    isOver.set(true);
    for (Thread writer : writers) {
      writer.join();
    }
  }

  /** Writes one document after the other and notes what became of each. */
  private void write(String prefix) {
    for (int i = 0; !isOver.get(); i++) {
      String id = prefix + i;
      Answer answer = server.put("/w/" + id, "{}");
      if (answer.status() == 201) {
        acknowledged.put(id, answer.member("rev"));
      } else {
        noteFailure(id, answer);
        LockSupport.parkNanos(REST.toNanos());
      }
    }
  }

  private void noteFailure(String id, Answer answer) {
    if (answer.status() != 503) {
      unexpected.add(answer);
    } else if (!answer.body().contains(IN_DOUBT)) {
      refused.add(id);
    }
  }

  private void awaitWrites() {
    int until = acknowledged.size() + WRITES_BETWEEN;
    Await.until("writes are acknowledged", () -> acknowledged.size() >= until);
  }

  @Test
  void while_the_cluster_is_frozen_every_request_is_refused_and_each_write_is_as_it_was_answered()
      throws IOException, InterruptedException {
    List<Long> processes = processes();
    signal("STOP", processes);
    try {
      Await.until("the server knows", () -> server.get("/_up").status() == 503);
      server.get("/w/w0-0?revs=true").expect(503);
      endWriters();
    } finally {
      signal("CONT", processes);
    }
    Await.until("writes are stored", () -> server.put("/w/after", "{}").status() == 201);
    assertAsAnswered();
  }

  @Test
  void whatever_process_is_killed_every_write_is_as_it_was_answered()
      throws IOException, InterruptedException {
    for (int i = 0; i < KILLS; i++) {
      List<Long> processes = processes();
      boolean isForAll = i % 2 == 0;
      signal("KILL", isForAll ? processes : List.of(processes.get(i % processes.size())));
      awaitWrites();
    }
    assertAsAnswered();
  }

  /** A write that was refused without doubt is not stored, not even later. */
  private void assertAsAnswered() throws InterruptedException {
    endWriters();
    assertThat(unexpected).isEmpty();
    acknowledged.forEach(
        (id, revision) -> {
          Answer answer = server.get("/w/" + id);
          assertThat(answer.status()).as(id).isEqualTo(200);
          assertThat(answer.member("_rev")).as(id).isEqualTo(revision);
        });
    refused.forEach(id -> assertThat(server.get("/w/" + id).status()).as(id).isEqualTo(404));
  }

  private static List<Long> processes() {
    List<Long> processes =
        ProcessHandle.allProcesses()
            .filter(process -> isServer(process.info()))
            .map(ProcessHandle::pid)
            .toList();
    assertThat(processes).isNotEmpty();
    return processes;
  }

  private static boolean isServer(ProcessHandle.Info process) {
    return process
        .command()
        .map(command -> Path.of(command).getFileName().toString())
        .filter(SERVER_PROCESS::equals)
        .isPresent();
  }

  private static void signal(String name, List<Long> processes)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("kill", "-" + name));
    processes.forEach(process -> command.add(Long.toString(process)));
    assertThat(new ProcessBuilder(command).inheritIO().start().waitFor()).isZero();
  }
}
