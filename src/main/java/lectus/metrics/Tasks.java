package lectus.metrics;

import java.time.InstantSource;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

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
    return begin(type, "");
  }

  /** Begins a task on one database. */
  public RunningTask begin(String type, String database) {
    return begin(type, database, Map.of());
  }

  /**
   * Begins a task on one database.
   *
   * @param details shown beside it, in the order of the map
   */
  public RunningTask begin(String type, String database, Map<String, String> details) {
    RunningTask task =
        new RunningTask(number.incrementAndGet(), type, database, details, clock, running::remove);
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
}
