package lectus.abuse.fuzz;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import lectus.abuse.LiveHeap;
import lectus.abuse.ServerLog;
import lectus.abuse.ServerProcess;
import lectus.abuse.fuzz.Fuzz.Findings;
import lectus.audit.testing.SoundStore;
import lectus.store.EmbeddedStores;
import lectus.store.Store;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A hundred thousand requests and messages from a seed, most of them nearly right. Each is
 * answered, none as only a defect explains, and nothing of them stays behind but what they stored.
 */
@Timeout(600)
final class FuzzTest {
  private static final long SEED = Long.getLong("lectus.test.seed", 20_261_122);
  private static final long REQUESTS = Long.getLong("lectus.fuzz.requests", 12_000);
  private static final int HEAP_MEGABYTES = 256;
  private static final int ENDED_BY_SIGTERM = 128 + 15;

  /** How much lists and caches may grow after the first tenth of the requests. */
  private static final long GROWTH_BYTES = 64L << 20;

  /** Kept for the next read: as many as there are readers, and some to spare. */
  private static final int IDLE_ITERATORS = 16;

  private static final int MORE_THREADS = 16;
  private static final int STOP_SECONDS = 60;

  /** Answers whose databases were dropped before the answers ended. */
  private static final int MAX_CUT = 100;

  private static final int MAX_LINES = 60;

  @TempDir private Path folder;

  @Test
  void whatever_comes_is_answered_and_leaves_nothing_behind() throws InterruptedException {
    assumeTrue(ServerProcess.canBeWatched() && !TestStores.isCluster());
    try (ServerProcess server =
        ServerProcess.start(folder, HEAP_MEGABYTES, "access.hash-iterations=1000")) {
      // The first look at a heap opens a socket that stays.
      server.liveHeap();
      int sockets = server.sockets();
      Fuzz fuzz = new Fuzz(server.port());
      fuzz.run(SEED, REQUESTS / 10);
      LiveHeap before = server.liveHeap();
      int threads = server.threads();

      fuzz.run(SEED + 1_000, REQUESTS - REQUESTS / 10);

      assertThat(wrong(server, fuzz)).isEmpty();
      assertThat(share(fuzz.findings(), 200, 299)).as("of answers 2xx").isGreaterThan(0.2);
      assertThat(fuzz.findings().cut()).as("answers broken off").isLessThan(MAX_CUT);
      assertThat(share(fuzz.findings(), 400, 499)).as("of answers 4xx").isGreaterThan(0.2);
      Await.until("all sockets are closed", () -> server.sockets() <= sockets);
      Await.until("all iterators are", () -> server.liveHeap().openIterators() <= IDLE_ITERATORS);
      assertThat(server.liveHeap().bytes()).isLessThan(before.bytes() + GROWTH_BYTES);
      assertThat(server.threads()).isLessThan(threads + MORE_THREADS);
      assertThat(server.stop(STOP_SECONDS)).isEqualTo(ENDED_BY_SIGTERM);
      assertThat(ServerLog.complaints(server.log())).isEmpty();
    }
    try (Store store = EmbeddedStores.open(ServerProcess.data(folder))) {
      SoundStore.assertSound(store);
    }
  }

  private static List<String> wrong(ServerProcess server, Fuzz fuzz) {
    List<String> wrong = new ArrayList<>(fuzz.findings().all());
    ServerLog.complaints(server.log()).stream().limit(MAX_LINES).forEach(wrong::add);
    return wrong;
  }

  /** Returns the share of answers with a status in this range. */
  private static double share(Findings answers, int from, int to) {
    double all = 0;
    double these = 0;
    for (Map.Entry<Integer, Integer> each : answers.statuses().entrySet()) {
      all += each.getValue();
      these += each.getKey() >= from && each.getKey() <= to ? each.getValue() : 0;
    }
    return these / all;
  }
}
