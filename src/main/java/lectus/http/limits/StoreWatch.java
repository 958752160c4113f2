package lectus.http.limits;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import lectus.error.LectusError;
import lectus.store.StoreFailures;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers requests that wait in vain: those that have waited too long, and all of them while the
 * store is known to be silent. The beginning and the end of an outage are logged once each.
 */
public final class StoreWatch {
  private static final Logger LOG = LoggerFactory.getLogger(StoreWatch.class);

  private static final LectusError TOO_LATE =
      new LectusError.Unavailable("The request has waited for too long.", 1);

  private final Supplier<CompletableFuture<Optional<String>>> pulse;
  private final List<? extends Waiting> queues;
  private boolean silent;
  private long silentSinceNanos;

  /** The requests that wait in a queue. Thread-safe. */
  public interface Waiting {
    /** Answers the requests that have waited too long. */
    void giveUpOverdue(LectusError why);

    /** Answers all waiting requests, and those that come from now on: they would wait in vain. */
    void refuse(LectusError why);

    void refuseNoMore();
  }

  /**
   * @param pulse checks the store: empty if it is well, else a sentence
   */
  public StoreWatch(
      Supplier<CompletableFuture<Optional<String>>> pulse, List<? extends Waiting> queues) {
    this.pulse = pulse;
    this.queues = List.copyOf(queues);
  }

  public void answerOverdue() {
    queues.forEach(queue -> queue.giveUpOverdue(TOO_LATE));
  }

  /** Checks the store; does not block. */
  public CompletableFuture<Void> look() {
    return pulse.get().thenAccept(this::found);
  }

  private synchronized void found(Optional<String> complaint) {
    boolean isSilent = complaint.filter(StoreFailures.SILENCE.reason()::equals).isPresent();
    if (isSilent == silent) {
      return;
    }
    silent = isSilent;
    if (isSilent) {
      silentSinceNanos = System.nanoTime();
      LOG.warn("The store does not answer; requests are refused until it does.");
      queues.forEach(queue -> queue.refuse(StoreFailures.SILENCE));
    } else {
      long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - silentSinceNanos);
      queues.forEach(Waiting::refuseNoMore);
      LOG.warn("The store answers again after {} s.", seconds);
    }
  }
}
