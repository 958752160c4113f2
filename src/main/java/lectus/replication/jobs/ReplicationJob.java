package lectus.replication.jobs;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import lectus.database.DatabaseName;
import lectus.http.ServedSettings.JobSettings;
import lectus.json.JsonBuffer;
import lectus.metrics.Tasks;
import lectus.metrics.Tasks.RunningTask;
import lectus.replication.Checkpoints.Place;
import lectus.replication.Replication;
import lectus.replication.ReplicationRequest;
import lectus.replication.ShownReplication;
import lectus.replication.ShownReplication.Event;
import lectus.replication.ShownReplication.EventType;
import lectus.store.Fence;

/**
 * A replication that a document describes, as the server that runs it knows it. Of the description
 * it keeps what is shown, so that ten thousand jobs that wait take little memory. Thread-safe.
 */
final class ReplicationJob {
  /** Thirty seconds, doubled with each crash, up to eight and a half hours. */
  private static final Duration FIRST_PAUSE = Duration.ofSeconds(30);

  private static final int MOST_DOUBLINGS = 10;

  private final JobKey key;
  private final Description description;
  private final Fence fence;
  private final Instant began;
  private final Deque<Event> history = new ArrayDeque<>();
  private Phase phase = Phase.WAITING;

  /** Empty while the text of a function that filters, a part of the id, is not known. */
  private Optional<String> id;

  private Optional<Replication> run = Optional.empty();
  private Optional<RunningTask> task = Optional.empty();
  private Instant lastStarted = Instant.EPOCH;
  private Instant updated;

  /** The members of {@code info} as the last run has left them, without brackets; maybe none. */
  private byte[] figures = new byte[0];

  /** How often in a row no run could be made. */
  private int failedStarts;

  private Optional<String> complaint = Optional.empty();

  /** Whether the source may have changed since the last run began. */
  private boolean isMoved;

  /** Whether a run has done all that there was to do. */
  private boolean hasCaughtUp;

  /** Where the last run has ended, if no checkpoint says so. */
  private Optional<Place> place = Optional.empty();

  /** Which document describes a replication. */
  record JobKey(DatabaseName database, String document) {}

  /**
   * What a document says.
   *
   * @param digest of all that is not a note of the replicator
   * @param bucket in which the replication is
   * @param id if it does not depend on the text of a function
   * @param extension of the id
   * @param source as it is shown
   * @param target as it is shown
   * @param localSource the source, if it is a database of this store
   * @param checkpointMillis between two checkpoints
   * @param user who is shown as its user: the owner, or whom the document names
   */
  record Description(
      String digest,
      int bucket,
      Optional<String> id,
      String extension,
      String source,
      String target,
      Optional<DatabaseName> localSource,
      boolean continuous,
      long checkpointMillis,
      Optional<String> user) {
    /** Returns the source for whose changes it waits without a run, if it does. */
    Optional<DatabaseName> waitedFor() {
      return continuous ? localSource : Optional.empty();
    }
  }

  /** What the scheduler does with a job. */
  enum Phase {
    /** It waits for its turn. */
    WAITING,
    /** It runs, or is about to, or has been told to stop. */
    ACTIVE,
    /** It has caught up, and waits for its source to change. */
    IDLE,
    /** It has failed, and is tried again later. */
    PAUSING,
    /** Its result is being written to its document. */
    OVER
  }

  ReplicationJob(JobKey key, Description description, Fence fence, Instant now) {
    this.key = key;
    this.description = description;
    this.fence = fence;
    this.began = now;
    this.updated = now;
    this.id = description.id();
    history.push(new Event(EventType.ADDED, now, Optional.empty()));
  }

  JobKey key() {
    return key;
  }

  Description description() {
    return description;
  }

  Fence fence() {
    return fence;
  }

  synchronized Optional<String> id() {
    return id;
  }

  synchronized Phase phase() {
    return phase;
  }

  synchronized void enter(Phase next) {
    phase = next;
    if (next == Phase.OVER) {
      hide();
    }
  }

  private void hide() {
    task.ifPresent(RunningTask::close);
    task = Optional.empty();
  }

  synchronized Instant lastStarted() {
    return lastStarted;
  }

  /** Notes that its source may have changed. */
  synchronized void move() {
    isMoved = true;
  }

  synchronized boolean isMoved() {
    return isMoved;
  }

  private void note(EventType type, Instant now, Optional<String> reason, int mostEvents) {
    history.push(new Event(type, now, reason));
    while (history.size() > Math.max(1, mostEvents)) {
      history.removeLast();
    }
    updated = now;
  }

  /** A run begins. One that goes on after a change of the source is no news. */
  synchronized void starts(Instant now, int mostEvents) {
    boolean goesOn = history.peek().type() == EventType.STARTED;
    phase = Phase.ACTIVE;
    isMoved = false;
    lastStarted = now;
    if (!goesOn) {
      note(EventType.STARTED, now, Optional.empty(), mostEvents);
    }
  }

  /**
   * Returns whether the run that was made for it is still wanted.
   *
   * @param tasks where it is shown from now on until it stops
   */
  synchronized boolean takes(Replication made, String madeId, Tasks tasks) {
    if (phase != Phase.ACTIVE) {
      return false;
    }
    run = Optional.of(made);
    id = Optional.of(madeId);
    failedStarts = 0;
    complaint = Optional.empty();
    if (task.isEmpty()) {
      task = Optional.of(tasks.begin("replication", this::task));
    }
    return true;
  }

  synchronized Optional<Replication> run() {
    return run;
  }

  private void runIsOver(boolean hasFailed) {
    place = hasFailed ? Optional.empty() : run.flatMap(Replication::place).or(() -> place);
    run.ifPresent(
        it -> {
          JsonBuffer out = new JsonBuffer(512);
          it.statistics().append(out);
          figures = out.toBytes();
        });
    run = Optional.empty();
  }

  /** Returns what its next run does. */
  synchronized ReplicationRequest next(ReplicationRequest described) {
    return described.again(description.waitedFor().isPresent(), hasCaughtUp, place);
  }

  /** Its run has done all that there was to do. */
  synchronized void completed(Phase next) {
    runIsOver(false);
    hasCaughtUp = true;
    enter(next);
  }

  synchronized void stopped(Instant now, int mostEvents) {
    runIsOver(false);
    hide();
    phase = Phase.WAITING;
    note(EventType.STOPPED, now, Optional.empty(), mostEvents);
  }

  /**
   * Its run has failed.
   *
   * @return how long to wait before the next
   */
  synchronized Duration crashed(String reason, Instant now, JobSettings settings) {
    runIsOver(true);
    hide();
    phase = Phase.PAUSING;
    note(EventType.CRASHED, now, Optional.of(reason), settings.maxHistory());
    int doublings = Math.min(MOST_DOUBLINGS, crashes(settings.healthSeconds()) - 1);
    return FIRST_PAUSE.multipliedBy(1L << Math.max(0, doublings));
  }

  /**
   * No run could be made, because a function that filters could not be read.
   *
   * @return how often in a row
   */
  synchronized int failedToStart(String reason, Instant now) {
    run = Optional.empty();
    phase = Phase.PAUSING;
    complaint = Optional.of(reason);
    updated = now;
    return ++failedStarts;
  }

  /**
   * Returns how often it has crashed in a row. As in CouchDB, a run that went well for some time,
   * or was stopped, ends the row.
   */
  private int crashes(int healthSeconds) {
    List<Event> events = new ArrayList<>(history);
    int count = 0;
    for (int i = 0; i < events.size(); i++) {
      Event event = events.get(i);
      Event before = i + 1 < events.size() ? events.get(i + 1) : null;
      if (event.type() == EventType.CRASHED && before != null) {
        if (Duration.between(before.at(), event.at()).toSeconds() > healthSeconds) {
          return count;
        }
        count++;
      } else if (event.type() == EventType.STOPPED
          && before != null
          && before.type() == EventType.STARTED) {
        return count;
      }
    }
    return count;
  }

  /** Returns its state in CouchDB's words. */
  synchronized String state() {
    if (complaint.isPresent()) {
      return "error";
    }
    if (id.isEmpty()) {
      return "initializing";
    }
    return switch (phase) {
      case ACTIVE, IDLE, OVER -> "running";
      case PAUSING -> "crashing";
      case WAITING ->
          history.peek().type() == EventType.CRASHED
              ? "crashing"
              : history.peek().type() == EventType.STARTED ? "running" : "pending";
    };
  }

  /** Returns what it has done, without brackets. */
  synchronized byte[] figures() {
    if (run.isEmpty()) {
      return figures.clone();
    }
    JsonBuffer out = new JsonBuffer(512);
    run.get().statistics().append(out);
    return out.toBytes();
  }

  Instant began() {
    return began;
  }

  private ShownReplication shown() {
    return new ShownReplication(
        description.user(),
        id,
        Optional.of(key.database()),
        Optional.of(key.document()),
        description.source(),
        description.target());
  }

  /** Returns the members of a running task, with commas between them. */
  synchronized String task() {
    return shown().task(description.continuous(), description.checkpointMillis(), figures());
  }

  /** Appends it as {@code _scheduler/jobs} shows it. */
  synchronized void appendJob(String node, JsonBuffer out) {
    Optional<String> pid =
        phase == Phase.ACTIVE || phase == Phase.IDLE
            ? Optional.of("<0." + System.identityHashCode(this) + ".0>")
            : Optional.empty();
    shown().appendJob(node, pid, figures(), history, began, out);
  }

  /** Appends it as {@code _scheduler/docs} shows it. */
  synchronized void appendDocument(String node, int healthSeconds, JsonBuffer out) {
    String state = state();
    int errors = state.equals("error") ? failedStarts : crashes(healthSeconds);
    shown().appendDocument(node, state, figures(), reason(state), errors, updated, began, out);
  }

  private Optional<String> reason(String state) {
    return switch (state) {
      case "error" -> complaint;
      case "crashing" ->
          history.stream()
              .filter(it -> it.type() == EventType.CRASHED)
              .findFirst()
              .flatMap(Event::reason);
      default -> Optional.empty();
    };
  }
}
