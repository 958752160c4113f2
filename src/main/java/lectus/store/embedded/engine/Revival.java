package lectus.store.embedded.engine;

import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Opens a store again that could not be written; its log decides what is stored. Reads go on until
 * the disk can be written again, and pause while the store is opened. Works in turns of the
 * committer.
 */
final class Revival {
  private static final Logger LOG = LoggerFactory.getLogger(Revival.class);
  private static final long PAUSE_NANOS = Duration.ofMillis(500).toNanos();

  /** A store that fails again and again is opened less and less often, up to this. */
  private static final long LONGEST_PAUSE_NANOS = Duration.ofSeconds(30).toNanos();

  /** Reads wait meanwhile. It takes as long as this only if something is badly wrong. */
  private static final long PATIENCE_NANOS = Duration.ofSeconds(10).toNanos();

  private static final int READ_POLLS = 100;
  private static final long READ_POLL_NANOS = 1_000_000;

  private final Path directory;
  private final EngineOptions options;
  private final FreeSpace space;
  private final StoreRun.Uses uses;
  private final CompletableFuture<String> broken = new CompletableFuture<>();
  private long pauseNanos = PAUSE_NANOS;
  private long pausedSince;
  private boolean pausing;
  private long readsRefusedSince;
  private boolean readsRefused;
  private long revivedAt;

  Revival(Path directory, EngineOptions options, FreeSpace space, StoreRun.Uses uses) {
    this.directory = directory;
    this.options = options;
    this.space = space;
    this.uses = uses;
    this.revivedAt = System.nanoTime() - LONGEST_PAUSE_NANOS;
  }

  /** Completed with a sentence when the store cannot go on in this process. */
  CompletableFuture<String> broken() {
    return broken;
  }

  /**
   * Goes on with a run that failed.
   *
   * @return the run that takes its place, or the failed one as long as there is none
   */
  StoreRun revive(StoreRun failed) {
    if (broken.isDone() || isPausing() || !readsRefused && !mayBeWritten()) {
      return failed;
    }
    try {
      refuseReads(failed);
      if (isFreed(failed)) {
        return opened();
      }
      giveUpInTime(failed, "Reads of it do not end.");
      return failed;
    } catch (RuntimeException | Error refused) {
      giveUpInTime(failed, refused.getMessage());
      return failed;
    }
  }

  private boolean isPausing() {
    long now = System.nanoTime();
    if (!pausing) {
      boolean failedAgain = now - revivedAt < LONGEST_PAUSE_NANOS;
      pauseNanos = failedAgain ? Math.min(2 * pauseNanos, LONGEST_PAUSE_NANOS) : PAUSE_NANOS;
      pausing = true;
      pausedSince = now;
    }
    // While reads are refused nobody can wait for the longer ones.
    if (now - pausedSince < (readsRefused ? PAUSE_NANOS : pauseNanos)) {
      return true;
    }
    pausedSince = now;
    return false;
  }

  private boolean mayBeWritten() {
    return space.isEnough() && DiskProbe.passes(directory);
  }

  private void refuseReads(StoreRun failed) {
    if (!readsRefused) {
      readsRefused = true;
      readsRefusedSince = System.nanoTime();
      failed.end(UseGate.EXPIRED, StoreErrors::reopening);
    }
  }

  /** Waits a moment: most reads under way end in microseconds. For others the next turn tries. */
  private static boolean isFreed(StoreRun failed) {
    boolean freed = failed.tryFree();
    for (int i = 0; i < READ_POLLS && !freed; i++) {
      LockSupport.parkNanos(READ_POLL_NANOS);
      freed = failed.tryFree();
    }
    return freed;
  }

  private StoreRun opened() {
    StoreRun next = StoreRun.reopen(directory, options, uses);
    revivedAt = System.nanoTime();
    readsRefused = false;
    pausing = false;
    LOG.info("The store was opened again and is written.");
    return next;
  }

  private void giveUpInTime(StoreRun failed, String why) {
    if (System.nanoTime() - readsRefusedSince > PATIENCE_NANOS && !broken.isDone()) {
      String sentence = "The store cannot go on: it could not be opened again.";
      LOG.error("{} {}", sentence, why);
      failed.end(UseGate.EXPIRED, () -> StoreErrors.unreadable(sentence));
      broken.complete(sentence + " " + why);
    }
  }
}
