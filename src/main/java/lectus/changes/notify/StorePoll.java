package lectus.changes.notify;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import lectus.changes.log.UpdatesLog;
import lectus.database.DatabaseHandle;
import lectus.database.InstanceId;
import lectus.store.Versionstamp;

/**
 * Polls the updates log while there is any listener on this server. One poll serves all databases,
 * however many there are, since every transaction that listeners wait for leaves a row there.
 * Listeners to many databases are told row by row; for listeners to one, its database is polled
 * when the log shows that it moved. So a busy database wakes only those who listen to it.
 */
public final class StorePoll implements Poll {
  private static final String LOG = "log";

  /**
   * Maximum number of rows that one poll tells by name. There are more when the store did not
   * answer, or nobody listened, for a while; then everybody is told, and all databases are polled.
   */
  public static final int MAX_ROWS = 10_000;

  private final Supplier<Optional<Versionstamp>> newest;
  private final Function<Versionstamp, UpdatesLog.Chunk> log;
  private final DatabaseLook databases;
  private final ListenerRegistry listeners;
  private final int maxRows;
  private final PollSchedule<String> schedule;
  private final AtomicBoolean newcomers = new AtomicBoolean();

  /** Databases that are still to be polled. */
  private final Set<InstanceId> moved = new HashSet<>();

  /** Whether all databases are to be polled. */
  private boolean anyMoved;

  /** The first point of the log that was not read yet. */
  private Versionstamp next = Versionstamp.ZERO;

  /**
   * @param newest reads when the newest row of the log was written; empty if there is none
   * @param log reads the log from a point on, some rows at a time
   * @param maxRows usually {@link #MAX_ROWS}
   */
  public StorePoll(
      Supplier<Optional<Versionstamp>> newest,
      Function<Versionstamp, UpdatesLog.Chunk> log,
      DatabaseLook databases,
      ListenerRegistry listeners,
      int maxRows,
      PollSettings settings) {
    this.maxRows = maxRows;
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
      boolean isOfUse = tellNews() && listeners.isAnybodyListeningToAll();
      if (lookWhereItMoved() || isOfUse) {
        schedule.looked(due, true);
      }
    }
  }

  /** Has the log polled with the next polls, because something is in it. */
  public void hurry() {
    schedule.hurry(LOG);
  }

  /** Events of new databases may not reach this server yet, so polling begins with short pauses. */
  private void follow() {
    if (newcomers.getAndSet(false)) {
      schedule.follow(Set.of());
    }
    schedule.follow(listeners.isEmpty() ? Set.of() : Set.of(LOG));
  }

  /** Reads the log to its end. Returns whether anything was new. */
  private boolean tellNews() {
    UpdatesLog.Chunk news = log.apply(next);
    boolean any = !news.rows().isEmpty();
    int told = 0;
    while (!news.rows().isEmpty()) {
      told += news.rows().size();
      Versionstamp last = news.rows().get(news.rows().size() - 1).at();
      if (told > maxRows) {
        tellAll(newest.get().orElse(last));
        break;
      }
      news.rows().forEach(listeners::logged);
      news.rows().forEach(row -> moved.add(row.instance()));
      listeners.loggedTo(last);
      next = last.successor();
      if (news.next().isEmpty()) {
        break;
      }
      news = log.apply(next);
    }
    anyMoved |= moved.size() > maxRows;
    return any;
  }

  private void tellAll(Versionstamp last) {
    listeners.storeMoved(last);
    anyMoved = true;
    next = last.successor();
  }

  /** The databases that a failed poll leaves out are polled by the next one. */
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

  /**
   * How often a server polls the databases with listeners.
   *
   * @param busy pause before the next poll of a database that a poll found moved
   * @param idle longest pause: polls of a database that stands still become ever rarer up to it
   */
  public record PollSettings(Duration busy, Duration idle) {
    /** Those of a server. */
    public static final PollSettings USUAL =
        new PollSettings(Duration.ofMillis(100), Duration.ofSeconds(2));

    public PollSettings {
      if (busy.toMillis() < 1 || idle.compareTo(busy) < 0) {
        throw new IllegalArgumentException(
            "The pauses are 1 ms or longer, the idle one not shorter");
      }
    }
  }

  /**
   * Schedules the polls of things that move. A poll that finds one moved is followed by another
   * soon. While it stands still, or events announce its moves before a poll finds them, the pauses
   * double. A new one begins with short pauses, because events of it may not reach this server yet.
   */
  static final class PollSchedule<K> {
    private final long busyNanos;
    private final long idleNanos;
    private final LongSupplier nanoTime;
    private final Map<K, Turn> turns = new HashMap<>();

    /** The next poll of one thing, and the pause before it. */
    private record Turn(long dueNanos, long pauseNanos) {}

    PollSchedule(PollSettings settings, LongSupplier nanoTime) {
      this.busyNanos = settings.busy().toNanos();
      this.idleNanos = settings.idle().toNanos();
      this.nanoTime = nanoTime;
    }

    /** Adds what is new among these, and forgets everything else. */
    void follow(Set<K> all) {
      turns.keySet().retainAll(all);
      long now = nanoTime.getAsLong();
      for (K one : all) {
        turns.computeIfAbsent(one, fresh -> new Turn(now + busyNanos, busyNanos));
      }
    }

    List<K> due() {
      long now = nanoTime.getAsLong();
      return turns.entrySet().stream()
          .filter(turn -> turn.getValue().dueNanos() - now <= 0)
          .map(Map.Entry::getKey)
          .toList();
    }

    /** Makes one due at once. */
    void hurry(K one) {
      turns.computeIfPresent(
          one, (same, turn) -> new Turn(nanoTime.getAsLong(), turn.pauseNanos()));
    }

    /**
     * @param moved whether the poll found what no event had announced
     */
    void looked(K one, boolean moved) {
      turns.computeIfPresent(
          one,
          (same, turn) -> {
            long pause = moved ? busyNanos : Math.min(idleNanos, 2 * turn.pauseNanos());
            return new Turn(nanoTime.getAsLong() + pause, pause);
          });
    }

    /** Returns how long nothing is due; the idle pause if nothing is followed. */
    Duration untilNext() {
      long now = nanoTime.getAsLong();
      long next =
          turns.values().stream().mapToLong(turn -> turn.dueNanos() - now).min().orElse(idleNanos);
      return Duration.ofNanos(Math.max(0, next));
    }
  }
}
