package lectus.server;

import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import lectus.changes.notify.ListenerRegistry;
import lectus.changes.notify.Poll;
import lectus.changes.notify.StorePoll.PollSettings;
import lectus.metrics.Meters;
import lectus.metrics.Meters.Measured;
import lectus.store.StoreFailures;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The safety net below the events: polls what listeners on this server wait for, and tells what no
 * event has announced.
 */
public final class ChangesPollerVerticle extends VerticleBase implements Measured {
  private static final Logger LOG = LoggerFactory.getLogger(ChangesPollerVerticle.class);

  private final List<Poll> polls;
  private final ListenerRegistry listeners;

  /** The shortest pause between two polls, so that what is due meanwhile is polled together. */
  private final Duration shortestPause;

  private final AtomicBoolean arrival = new AtomicBoolean();
  private long timer;
  private long timerNanos;
  private boolean failing;
  private final LongAdder rounds = new LongAdder();
  private final LongAdder failed = new LongAdder();

  public ChangesPollerVerticle(
      List<Poll> polls, ListenerRegistry listeners, PollSettings settings) {
    this.polls = List.copyOf(polls);
    this.listeners = listeners;
    this.shortestPause = settings.busy();
  }

  @Override
  public Future<?> start() {
    listeners.watch(address -> arrived());
    pollLater(untilNext());
    return Future.succeededFuture();
  }

  @Override
  public void describe(Meters meters) {
    meters.count("lectus_poller_rounds", "Looks for changes.", rounds::sum);
    meters.count("lectus_poller_failures", "Looks that failed.", failed::sum);
  }

  /** Called on any thread. A new listener does not wait until everything else is due. */
  private void arrived() {
    if (arrival.compareAndSet(false, true)) {
      context.runOnContext(none -> pollSooner());
    }
  }

  private void pollSooner() {
    arrival.set(false);
    if (System.nanoTime() + shortestPause.toNanos() - timerNanos < 0) {
      vertx.cancelTimer(timer);
      pollLater(shortestPause);
    }
  }

  private void pollLater(Duration pause) {
    long millis = Math.max(shortestPause.toMillis(), pause.toMillis());
    timerNanos = System.nanoTime() + Duration.ofMillis(millis).toNanos();
    timer = vertx.setTimer(millis, fired -> poll());
  }

  private Duration untilNext() {
    return polls.stream().map(Poll::untilNext).min(Comparator.naturalOrder()).orElseThrow();
  }

  /** Another poll follows however this one ends: nobody else polls. */
  private void poll() {
    try {
      List<Throwable> failures = polls.stream().flatMap(poll -> run(poll).stream()).toList();
      if (!failing) {
        // A store that does not answer is polled again and again, but logged once.
        failures.stream()
            .filter(failure -> !StoreFailures.isSilence(failure))
            .forEach(failure -> LOG.warn("Databases could not be polled", failure));
      }
      failing = !failures.isEmpty();
      rounds.increment();
      failed.add(failing ? 1 : 0);
    } finally {
      pollLater(untilNext());
    }
  }

  /** A poll that fails does not keep the others from running. */
  private static Optional<Throwable> run(Poll poll) {
    try {
      poll.run();
      return Optional.empty();
    } catch (Throwable e) {
      return Optional.of(e);
    }
  }
}
