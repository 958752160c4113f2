package lectus.server;

import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import lectus.store.Versionstamp;
import lectus.updates.UpdatesLog;

/**
 * Looks what is new in the updates log, while somebody on this server listens to all databases: one
 * look for all of them, who are told row by row, so that only those wake whom a row concerns.
 */
final class StorePoll implements Poll {
  private static final String LOG = "log";

  private final Supplier<Optional<Versionstamp>> newest;
  private final Function<Versionstamp, UpdatesLog.Chunk> log;
  private final ListenerRegistry listeners;
  private final PollSchedule<String> schedule;

  /** The first point of the log not looked at. */
  private Versionstamp next = Versionstamp.ZERO;

  /**
   * @param newest reads when the newest row of the log was written; empty if there is none
   * @param log reads the log from a point on, as many rows as are told one by one
   */
  StorePoll(
      Supplier<Optional<Versionstamp>> newest,
      Function<Versionstamp, UpdatesLog.Chunk> log,
      ListenerRegistry listeners,
      PollSettings settings) {
    this.newest = newest;
    this.log = log;
    this.listeners = listeners;
    this.schedule = new PollSchedule<>(settings, System::nanoTime);
  }

  @Override
  public void run() {
    schedule.follow(listeners.isAnybodyListeningToAll() ? Set.of(LOG) : Set.of());
    for (String due : schedule.due()) {
      schedule.looked(due, false);
      UpdatesLog.Chunk news = log.apply(next);
      if (!news.rows().isEmpty()) {
        schedule.looked(due, true);
        tell(news);
      }
    }
  }

  private void tell(UpdatesLog.Chunk news) {
    Versionstamp last = news.rows().get(news.rows().size() - 1).at();
    if (news.next().isEmpty()) {
      news.rows().forEach(listeners::logged);
    } else {
      last = newest.get().orElse(last);
      listeners.storeMoved(last);
    }
    next = last.successor();
  }

  @Override
  public Duration untilNext() {
    return schedule.untilNext();
  }
}
