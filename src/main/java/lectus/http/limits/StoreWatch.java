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
  private final List<? extends WaitingRequests> rooms;
  private boolean silent;
  private long silentSinceNanos;

  /**
   * @param pulse checks the store: empty if it is well, else a sentence
   */
  public StoreWatch(
      Supplier<CompletableFuture<Optional<String>>> pulse, List<? extends WaitingRequests> rooms) {
    this.pulse = pulse;
    this.rooms = List.copyOf(rooms);
  }

  public void answerOverdue() {
    rooms.forEach(room -> room.giveUpOverdue(TOO_LATE));
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
      rooms.forEach(room -> room.refuse(StoreFailures.SILENCE));
    } else {
      long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - silentSinceNanos);
      rooms.forEach(WaitingRequests::refuseNoMore);
      LOG.warn("The store answers again after {} s.", seconds);
    }
  }
}
