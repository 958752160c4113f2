package lectus.store.embedded.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lectus.store.embedded.engine.CommitRequest.CommitReceipt;
import lectus.store.embedded.engine.EngineOptions.Durability;
import lectus.store.embedded.engine.EngineOptions.EngineTimer;
import lectus.store.embedded.engine.folder.LogTracker.SyncedLog;
import lectus.store.testing.TestJava;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
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

  /** Repeatedly kills a process in the middle of concurrent commits on one folder. */
  @Nested
  class Killed {
    private static final int ROUNDS = Integer.getInteger("lectus.test.kill-rounds", 4);
    private static final int MAX_COMMITS_PER_ROUND = 1_000;

    private static final Pattern ACKNOWLEDGEMENT = Pattern.compile("committed (\\S+) at (\\d+)\\.");
    private Path folder;
    private final Set<String> acknowledged = new HashSet<>();
    private final Random random = new Random(42);
    private long newestVersion;

    @BeforeEach
    void nameFolder() {
      folder = temporary.resolve("store");
    }

    @Test
    void nothing_that_was_acknowledged_is_lost_and_versions_rise() throws Exception {
      for (int round = 0; round < ROUNDS; round++) {
        long earlier = newestVersion;
        writeUntilKilled(round, earlier);
        // Each run's clock is behind the previous one's.
        long micros = -round * 1_000_000_000L;
        try (RocksEngine engine =
            RocksEngine.open(
                folder, EngineOptions.defaults().with(TestOptions.clock(() -> micros)))) {
          assertThat(CrashLoad.audit(engine, acknowledged)).as("round %d", round).isEmpty();
          assertThat(engine.readVersion()).isGreaterThan(newestVersion);
          newestVersion = engine.readVersion();
        }
      }
      assertThat(acknowledged).hasSizeGreaterThan(ROUNDS);
    }

    private void writeUntilKilled(int round, long earlier) throws Exception {
      List<String> command = TestJava.command(256, "-Djava.io.tmpdir=" + temporary);
      command.addAll(List.of(Writer.class.getName(), folder.toString(), "run" + round));
      Process writer =
          new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
      int commits = 1 + random.nextInt(MAX_COMMITS_PER_ROUND);
      try (BufferedReader lines = writer.inputReader()) {
        int noted = 0;
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
          noted += note(line, earlier) ? 1 : 0;
          if (noted == commits) {
            // Not Process.destroyForcibly, which would close the stream before it is read to its
            // end:
            // what was acknowledged before the kill counts as well.
            writer.toHandle().destroyForcibly();
          }
        }
        assertThat(noted).isGreaterThanOrEqualTo(commits);
      } finally {
        writer.destroyForcibly();
      }
      assertThat(writer.waitFor(30, TimeUnit.SECONDS)).isTrue();
    }

    /** Records an acknowledgement. A line may be cut off, or be a log line. */
    private boolean note(String line, long earlier) {
      Matcher acknowledgement = ACKNOWLEDGEMENT.matcher(line);
      if (!acknowledgement.matches()) {
        return false;
      }
      long version = Long.parseLong(acknowledgement.group(2));
      assertThat(version).isGreaterThan(earlier);
      newestVersion = Math.max(newestVersion, version);
      acknowledged.add(acknowledgement.group(1));
      return true;
    }

    /**
     * Commits until it is killed, and prints each acknowledged commit. It switches and records logs
     * as often as possible, so that the kill hits any point of that.
     */
    static final class Writer {
      private static final int MEMTABLE_BYTES = 64 << 10;

      private Writer() {}

      public static void main(String[] arguments) {
        ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();
        EngineTimer fast =
            (period, task) -> {
              ScheduledFuture<?> ticks =
                  clock.scheduleWithFixedDelay(task, 1, 1, TimeUnit.MILLISECONDS);
              return () -> ticks.cancel(false);
            };
        EngineOptions options =
            EngineOptions.defaults()
                .withMemory(8 << 20, MEMTABLE_BYTES)
                .with(TestOptions.threads(null, fast));
        RocksEngine engine = RocksEngine.open(Path.of(arguments[0]), options);
        CrashLoad.start(engine, arguments[1], () -> false, Writer::print)
            .forEach(Writer::joinForever);
      }

      private static synchronized void print(String id, CommitReceipt receipt) {
        System.out.println("committed " + id + " at " + receipt.version() + ".");
        System.out.flush();
      }

      private static void joinForever(Thread thread) {
        try {
          thread.join();
        } catch (InterruptedException interrupted) {
          throw new IllegalStateException(interrupted);
        }
      }
    }
  }
}
