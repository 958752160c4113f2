package lectus.store.embedded.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import lectus.store.embedded.engine.CommitRequest.CommitReceipt;
import lectus.store.embedded.engine.EngineOptions.Durability;
import lectus.store.embedded.engine.folder.LogTracker.SyncedLog;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Simulates a power loss: only the part of the log known to be synced is kept, sometimes with a
 * piece of the next record. Killing a process would not do, because the page cache outlives it.
 */
class CutLogCrashTest {
  private static final int ROUNDS = Integer.getInteger("lectus.test.cut-rounds", 12);
  private static final int COMMITS_PER_ROUND = 100;
  private static final String RECORD = "lectus.logs";

  @TempDir Path temporary;
  private final Set<String> acknowledged = ConcurrentHashMap.newKeySet();
  private final Semaphore commits = new Semaphore(0);
  private final AtomicLong newestVersion = new AtomicLong();
  private final Random random = new Random(20261121);

  @Test
  void nothing_that_was_acknowledged_is_lost() throws InterruptedException {
    assertThat(missingAfterCuts(Durability.SYNC)).isZero();
  }

  @Test
  void store_that_does_not_sync_is_caught() throws InterruptedException {
    assertThat(missingAfterCuts(Durability.SKIP_SYNC)).isGreaterThan(ROUNDS);
  }

  private int missingAfterCuts(Durability durability) throws InterruptedException {
    Path folder = temporary.resolve("store");
    int missing = 0;
    EngineOptions options = EngineOptions.defaults().with(TestOptions.trackedLog(durability));
    try (RocksEngine engine = RocksEngine.open(folder, options)) {
      for (int round = 0; round < ROUNDS; round++) {
        missing += missingAfterCut(engine, folder, round);
      }
    }
    return missing;
  }

  private int missingAfterCut(RocksEngine engine, Path folder, int round)
      throws InterruptedException {
    Path copy = temporary.resolve("copy" + round);
    AtomicBoolean stop = new AtomicBoolean();
    List<Thread> writers = CrashLoad.start(engine, "cut" + round, stop::get, this::acknowledge);
    awaitCommits(COMMITS_PER_ROUND);
    // In this order: what is acknowledged or recorded by now was synced before the length is taken.
    Set<String> promised = new HashSet<>(acknowledged);
    long version = newestVersion.get();
    String recorded = Folders.read(folder.resolve(RECORD));
    SyncedLog synced = engine.run.log().newest();
    Folders.copy(folder, copy);
    Folders.write(copy.resolve(RECORD), recorded);
    stop.set(true);
    for (Thread writer : writers) {
      writer.join();
    }
    cut(copy.resolve(folder.relativize(synced.file())), synced.length());
    return audit(copy, promised, version);
  }

  private int audit(Path copy, Set<String> promised, long version) {
    // Time stands still for this engine, so that the audit may take as long as it needs.
    EngineOptions frozen = EngineOptions.defaults().with(TestOptions.clock(() -> 0));
    try (RocksEngine recovered = RocksEngine.open(copy, frozen)) {
      assertThat(recovered.readVersion()).isGreaterThan(version);
      return CrashLoad.audit(recovered, promised).size();
    } finally {
      Folders.delete(copy);
    }
  }

  private void cut(Path log, long synced) {
    long beyond = Folders.length(log) - synced;
    long torn = beyond > 0 && random.nextBoolean() ? random.nextLong(Math.min(beyond, 300)) : 0;
    Folders.truncate(log, synced + torn);
  }

  private void acknowledge(String id, CommitReceipt receipt) {
    newestVersion.accumulateAndGet(receipt.version(), Math::max);
    acknowledged.add(id);
    commits.release();
  }

  private void awaitCommits(int count) throws InterruptedException {
    assertThat(commits.tryAcquire(count, 60, TimeUnit.SECONDS)).isTrue();
  }
}
