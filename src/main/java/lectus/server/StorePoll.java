package lectus.server;

import java.time.Duration;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.Supplier;
import lectus.database.DatabaseHandle;
import lectus.database.InstanceId;
import lectus.store.Versionstamp;
import lectus.updates.UpdatesLog;

/**
 * Looks what is new in the updates log, while somebody on this server listens to anything: one look
 * for all databases, however many there are, since every transaction that listeners want to hear of
 * leaves a row there. Who listens to many databases is told row by row; those who listen to one are
 * told what a closer look at it finds.
 */
final class StorePoll implements Poll {
  private static final String LOG = "log";

  /** When more have moved, because the store did not answer for a while, all are looked at. */
  private static final int MOST_MOVED = 10_000;

  private final Supplier<Optional<Versionstamp>> newest;
  private final Function<Versionstamp, UpdatesLog.Chunk> log;
  private final DatabaseLook databases;
  private final ListenerRegistry listeners;
  private final PollSchedule<String> schedule;
  private final AtomicBoolean newcomers = new AtomicBoolean();

  /** Databases that are still to be looked at. */
  private final Set<InstanceId> moved = new HashSet<>();

  /** Whether all are. */
  private boolean anyMoved;

  /** The first point of the log not looked at. */
  private Versionstamp next = Versionstamp.ZERO;

  /**
   * @param newest reads when the newest row of the log was written; empty if there is none
   * @param log reads the log from a point on, as many rows as are told one by one
   */
  StorePoll(
      Supplier<Optional<Versionstamp>> newest,
      Function<Versionstamp, UpdatesLog.Chunk> log,
      DatabaseLook databases,
      ListenerRegistry listeners,
      PollSettings settings) {
    this.newest = newest;
    this.log = log;
    this.databases = databases;
    this.listeners = listeners;
    this.schedule = new PollSchedule<>(settings, System::nanoTime);
    listeners.watch(address -> newcomers.set(true));
  }

  @Override
  public void run() {
    follow();
    for (String due : schedule.due()) {
      schedule.looked(due, false);
      UpdatesLog.Chunk news = log.apply(next);
      boolean isOfUse = !news.rows().isEmpty() && listeners.isAnybodyListeningToAll();
      if (!news.rows().isEmpty()) {
        tell(news);
      }
      if (lookWhereItMoved() || isOfUse) {
        schedule.looked(due, true);
      }
    }
  }

  /** Events of what is new here may not reach this server yet, so it begins with short pauses. */
  private void follow() {
    if (newcomers.getAndSet(false)) {
      schedule.follow(Set.of());
    }
    schedule.follow(listeners.isEmpty() ? Set.of() : Set.of(LOG));
  }

  private void tell(UpdatesLog.Chunk news) {
    Versionstamp last = news.rows().get(news.rows().size() - 1).at();
    if (news.next().isEmpty()) {
      news.rows().forEach(listeners::logged);
      news.rows().forEach(row -> moved.add(row.instance()));
    } else {
      last = newest.get().orElse(last);
      listeners.storeMoved(last);
      anyMoved = true;
    }
    anyMoved |= moved.size() > MOST_MOVED;
    next = last.successor();
  }

  /** What a look that fails leaves out, the next one looks at. */
  private boolean lookWhereItMoved() {
    if (moved.isEmpty() && !anyMoved) {
      return false;
    }
    Map<InstanceId, DatabaseHandle> listened = listeners.databases();
    if (!anyMoved) {
      listened.keySet().retainAll(moved);
    }
    boolean news = databases.at(listened.values());
    moved.clear();
    anyMoved = false;
    return news;
  }

  @Override
  public Duration untilNext() {
    return schedule.untilNext();
  }
}
