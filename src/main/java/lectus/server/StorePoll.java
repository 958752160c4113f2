package lectus.server;

import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import lectus.store.Versionstamp;

/** Looks where the updates log ends, while somebody on this server listens to all databases. */
final class StorePoll implements Poll {
  private static final String LOG = "log";

  private final Supplier<Optional<Versionstamp>> newest;
  private final ListenerRegistry listeners;
  private final PollSchedule<String> schedule;
  private Versionstamp seen = Versionstamp.ZERO;

  /**
   * @param newest reads when the newest row of the log was written; empty if there is none
   */
  StorePoll(
      Supplier<Optional<Versionstamp>> newest, ListenerRegistry listeners, PollSettings settings) {
    this.newest = newest;
    this.listeners = listeners;
    this.schedule = new PollSchedule<>(settings, System::nanoTime);
  }

  @Override
  public void run() {
    schedule.follow(listeners.isAnybodyListeningToAll() ? Set.of(LOG) : Set.of());
    for (String log : schedule.due()) {
      schedule.looked(log, false);
      newest.get().filter(last -> last.compareTo(seen) > 0).ifPresent(this::tell);
    }
  }

  private void tell(Versionstamp last) {
    seen = last;
    listeners.storeMoved(last);
    schedule.looked(LOG, true);
  }

  @Override
  public Duration untilNext() {
    return schedule.untilNext();
  }
}
