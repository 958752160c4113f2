package lectus.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import lectus.audit.testing.SoundStore;
import lectus.changes.notify.StorePoll.PollSettings;
import lectus.http.testing.LectusServer;
import lectus.server.testing.ClusterFile;
import lectus.store.Store;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * Members join, leave in order, are cut off and die, while clients write and listen through the
 * remaining ones. Every listener sees every change once, in the order of the database.
 */
final class ClusterSoakTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  @TempDir private static Path folder;

  private static final long SEED = 18;
  private static final int ROUNDS = 3;
  private static final int WRITERS = 3;
  private static final int LISTENERS = 6;
  private static final Duration PATIENCE = Duration.ofSeconds(240);
  private static final String LAST = "last";

  /** Between two writes, and two attempts to connect: members that come need the processors. */
  private static final long PAUSE_NANOS = 5_000_000;

  private final Store store = stores.fresh();
  private final Path file = ClusterFile.write(folder);
  private final List<Member> members = new CopyOnWriteArrayList<>();
  private final AtomicBoolean over = new AtomicBoolean();

  private void join() {
    members.add(
        new Member(file, store, new PollSettings(Duration.ofMillis(100), Duration.ofSeconds(1))));
  }

  private LectusServer any(Random random) {
    Object[] there = members.toArray();
    return ((Member) there[random.nextInt(there.length)]).server();
  }

  /** Writes a document of this id through some member, however often members leave meanwhile. */
  private void write(String id, Random random) {
    Await.until(id + " is written", () -> isWritten(id, random));
  }

  private boolean isWritten(String id, Random random) {
    try {
      int status = any(random).put("/w/" + id, "{}").status();
      // A conflict: the answer to an earlier attempt was lost.
      return status == 201 || status == 409;
    } catch (UncheckedIOException gone) {
      return false;
    }
  }

  /** Writes until the soak is over, and returns the ids. */
  private List<String> writeOn(int number) {
    Random random = new Random(SEED + number);
    List<String> written = new ArrayList<>();
    while (!over.get()) {
      String id = "w" + number + "-" + written.size();
      write(id, random);
      written.add(id);
      LockSupport.parkNanos(PAUSE_NANOS);
    }
    return written;
  }

  /**
   * Returns what one client sees that reconnects elsewhere when its member ends the feed or is
   * gone.
   */
  private List<String> listen(int number) {
    Random random = new Random(SEED - number);
    List<String> rows = new ArrayList<>();
    String since = "0";
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (System.nanoTime() - end < 0) {
      try (ContinuousFeed feed = new ContinuousFeed(any(random), "w", since)) {
        for (String line = feed.next(); line.startsWith("{\"seq\""); line = feed.next()) {
          rows.add(line);
          since = line.substring("{\"seq\":\"".length(), line.indexOf("\",\"id\""));
          if (ContinuousFeed.idOf(line).equals(LAST)) {
            return rows;
          }
        }
      } catch (UncheckedIOException gone) {
        LockSupport.parkNanos(PAUSE_NANOS);
      }
    }
    throw new AssertionError("The last row did not come");
  }

  @Test
  void nothing_is_lost_and_nothing_comes_twice() {
    join();
    join();
    members.get(0).server().put("/w");
    List<CompletableFuture<List<String>>> listening = new ArrayList<>();
    List<CompletableFuture<List<String>>> writing = new ArrayList<>();
    for (int i = 0; i < LISTENERS; i++) {
      int number = i;
      listening.add(inBackground(() -> listen(number)));
    }
    for (int i = 0; i < WRITERS; i++) {
      int number = i;
      writing.add(inBackground(() -> writeOn(number)));
    }
    churn(new Random(SEED));
    over.set(true);
    List<String> written = new ArrayList<>();
    writing.forEach(writer -> written.addAll(writer.join()));
    write(LAST, new Random(SEED));
    written.add(LAST);

    for (CompletableFuture<List<String>> listener : listening) {
      List<String> rows = listener.join();
      assertThat(rows).isSorted().doesNotHaveDuplicates();
      assertThat(rows.stream().map(ContinuousFeed::idOf))
          .containsExactlyInAnyOrderElementsOf(written);
    }
    members.forEach(Member::close);
  }

  private static CompletableFuture<List<String>> inBackground(Callable<List<String>> task) {
    CompletableFuture<List<String>> result = new CompletableFuture<>();
    Thread thread =
        new Thread(
            () -> {
              try {
                result.complete(task.call());
              } catch (Throwable e) {
                result.completeExceptionally(e);
              }
            });
    thread.setDaemon(true);
    thread.start();
    return result;
  }

  /** One member joins and one leaves, in each of three ways. */
  private void churn(Random random) {
    for (int round = 0; round < ROUNDS; round++) {
      join();
      try (MemberProcess process =
          round == 0 ? MemberProcess.start(file, folder.resolve("foreign")) : null) {
        Member leaving = members.remove(random.nextInt(members.size()));
        if (round == 1) {
          leaving.cutOff();
        }
        leaving.close();
        if (process != null) {
          process.kill();
        }
      }
    }
  }
}
