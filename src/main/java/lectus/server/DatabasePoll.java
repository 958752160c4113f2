package lectus.server;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import lectus.database.DatabaseHandle;
import lectus.database.InstanceId;
import lectus.feed.database.DatabaseTail;
import lectus.feed.database.DatabaseTails;

/**
 * Looks where the databases stand that somebody on this server listens to, many of them in one
 * transaction (RFC 003, Access Patterns).
 */
final class DatabasePoll implements Poll {
  private final DatabaseTails tails;
  private final ListenerRegistry listeners;
  private final UpdateAnnouncer announcer;
  private final PollSchedule<InstanceId> schedule;

  DatabasePoll(
      DatabaseTails tails,
      ListenerRegistry listeners,
      UpdateAnnouncer announcer,
      PollSettings settings) {
    this.tails = tails;
    this.listeners = listeners;
    this.announcer = announcer;
    this.schedule = new PollSchedule<>(settings, System::nanoTime);
  }

  @Override
  public void run() {
    Map<InstanceId, DatabaseHandle> databases = listeners.databases();
    schedule.follow(databases.keySet());
    look(schedule.due().stream().map(databases::get).toList());
  }

  /** As many databases in one transaction as it takes. */
  private void look(List<DatabaseHandle> databases) {
    // A look that fails is one that found nothing, so that a store in trouble has its rest.
    databases.forEach(database -> schedule.looked(database.instance(), false));
    List<DatabaseHandle> rest = databases;
    while (!rest.isEmpty()) {
      List<DatabaseTail> seen = tails.read(rest);
      seen.forEach(this::tell);
      rest = rest.subList(seen.size(), rest.size());
    }
  }

  private void tell(DatabaseTail tail) {
    if (tail.isOver()) {
      announcer.foundDeleted(tail.instance());
    } else if (tail.last().isPresent() && announcer.found(tail.instance(), tail.last().get())) {
      schedule.looked(tail.instance(), true);
    }
  }

  @Override
  public Duration untilNext() {
    return schedule.untilNext();
  }
}
