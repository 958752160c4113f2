package lectus.metrics;

import java.time.Instant;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/**
 * The running tasks of one server, as many as can be shown: further ones run unseen. Thread-safe,
 * and never waits.
 */
public final class Tasks {
  /** A client can make many databases be resharded at once. */
  static final int MOST = 1_000;

  private final InstantSource clock;
  private final Set<RunningTask> running = ConcurrentHashMap.newKeySet();
  private final AtomicLong number = new AtomicLong();

  public Tasks() {
    this(InstantSource.system());
  }

  Tasks(InstantSource clock) {
    this.clock = clock;
  }

  /**
   * Begins a task, which runs until it is closed.
   *
   * @param type one of a few, in lower case with underscores
   */
  public RunningTask begin(String type) {
    return begin(type, "", Map.of());
  }

  public RunningTask begin(String type, String database) {
    return begin(type, database, Map.of());
  }

  /**
   * Begins a task on one database.
   *
   * @param details shown beside it, in the order of the map
   */
  public RunningTask begin(String type, String database, Map<String, String> details) {
    return begin(type, database, details, Optional.empty());
  }

  /**
   * Begins a task that is shown in a form of its own.
   *
   * @param members of a JSON object, with commas between them
   */
  public RunningTask begin(String type, Supplier<String> members) {
    return begin(type, "", Map.of(), Optional.of(members));
  }

  private RunningTask begin(
      String type,
      String database,
      Map<String, String> details,
      Optional<Supplier<String>> members) {
    Instant now = clock.instant();
    RunningTask task =
        new RunningTask(
            new TaskState(
                number.incrementAndGet(),
                type,
                database,
                details,
                members,
                now,
                now,
                0,
                OptionalLong.empty()));
    if (running.size() < MOST) {
      running.add(task);
    }
    return task;
  }

  /** Returns the tasks that run now, oldest first. */
  public List<TaskState> running() {
    return running.stream()
        .map(RunningTask::state)
        .sorted(Comparator.comparingLong(TaskState::number))
        .toList();
  }

  /** A task from its beginning to its end. Thread-safe. */
  public final class RunningTask implements AutoCloseable {
    private volatile TaskState state;

    private RunningTask(TaskState state) {
      this.state = state;
    }

    public synchronized RunningTask outOf(long total) {
      state = state.at(clock.instant(), state.done(), OptionalLong.of(total));
      return this;
    }

    public synchronized void advance(long more) {
      state = state.at(clock.instant(), state.done() + more, state.total());
    }

    public long done() {
      return state.done();
    }

    TaskState state() {
      return state;
    }

    @Override
    public void close() {
      running.remove(this);
    }
  }

  /**
   * A running task as it was at some time.
   *
   * @param number of the task among those of its server
   * @param type in lower case, with underscores between words
   * @param subject the name of its database; empty if it has none
   * @param details what else there is to know of it, by names in lower case
   * @param members of a JSON object, if it is shown in a form of its own
   * @param updated when it last told how far it was
   * @param total how much there is to do; empty if nobody knows
   */
  public record TaskState(
      long number,
      String type,
      String subject,
      Map<String, String> details,
      Optional<Supplier<String>> members,
      Instant started,
      Instant updated,
      long done,
      OptionalLong total) {
    private static final long PERCENT = 100;

    TaskState at(Instant now, long nowDone, OptionalLong nowTotal) {
      return new TaskState(
          number, type, subject, details, members, started, now, nowDone, nowTotal);
    }

    /**
     * Returns how much is done, in percent. What is estimated too low never ends before its task.
     */
    public OptionalLong progress() {
      return total.isPresent() && total.getAsLong() > 0
          ? OptionalLong.of((long) (PERCENT * Math.min(1, (double) done / total.getAsLong())))
          : OptionalLong.empty();
    }
  }
}
