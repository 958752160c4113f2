package lectus.store.embedded.engine;

import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import lectus.error.FoundationDbError;
import lectus.store.embedded.engine.folder.DiskProbe;
import lectus.store.embedded.engine.folder.FreeSpace;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reopens a store after a failed write; its log decides what is stored. Reads continue until the
 * disk is writable again, and pause during reopening. Runs in turns of the committer.
 */
final class Recovery {
  private static final Logger LOG = LoggerFactory.getLogger(Recovery.class);
  private static final long PAUSE_NANOS = Duration.ofMillis(500).toNanos();

  /**
   * The longest pause between attempts. A store that keeps failing is reopened less and less often.
   */
  private static final long LONGEST_PAUSE_NANOS = Duration.ofSeconds(30).toNanos();

  /** Reads wait meanwhile. Reopening takes this long only if something is badly wrong. */
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

  Recovery(Path directory, EngineOptions options, FreeSpace space, StoreRun.Uses uses) {
    this.directory = directory;
    this.options = options;
    this.space = space;
    this.uses = uses;
    this.revivedAt = System.nanoTime() - LONGEST_PAUSE_NANOS;
  }

  /** Completes with a sentence when this process can no longer use the store. */
  CompletableFuture<String> broken() {
    return broken;
  }

  /**
   * Replaces a run that failed.
   *
   * @return the run that replaces it, or the failed one until there is one
   */
  StoreRun revive(StoreRun failed) {
    if (broken.isDone() || isPausing() || (!readsRefused && !mayBeWritten())) {
      return failed;
    }
    try {
      refuseReads(failed);
      if (isFreed(failed)) {
        return opened();
      }
      giveUpInTime(failed, "Its reads do not end.");
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
    // While reads are refused, the pauses stay short.
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
      readsRefusedSince = System.nanoTime();
      // If this finds no memory, the next turn does it again.
      failed.end(UseCount.EXPIRED, FoundationDbError.PROCESS_BEHIND::exception);
      readsRefused = true;
    }
  }

  /**
   * Waits a moment, because most reads under way end in microseconds. The next turn retries the
   * others.
   */
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
    LOG.info("The store was opened again and accepts writes.");
    return next;
  }

  private void giveUpInTime(StoreRun failed, String why) {
    if (System.nanoTime() - readsRefusedSince > PATIENCE_NANOS && !broken.isDone()) {
      String sentence = "The store cannot go on: it could not be opened again.";
      LOG.error("{} {}", sentence, why);
      failed.end(UseCount.EXPIRED, () -> FoundationDbError.FILE_NOT_READABLE.exception(sentence));
      broken.complete(sentence + " " + why);
    }
  }
}
