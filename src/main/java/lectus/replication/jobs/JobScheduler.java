package lectus.replication.jobs;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Supplier;
import lectus.database.DatabaseName;
import lectus.http.ServedSettings.JobSettings;
import lectus.metrics.Meters;
import lectus.metrics.Meters.Measured;
import lectus.replication.Replication;
import lectus.replication.jobs.JobDocuments.Note;
import lectus.replication.jobs.ReplicationJob.JobKey;
import lectus.replication.jobs.ReplicationJob.Phase;

/**
 * Which of a server's jobs run. As in CouchDB, so many run at a time; after each interval some that
 * run on and on make room for those that wait, and one that fails waits longer each time. One that
 * has caught up with a database of this store needs no turn until that changes. Used by one thread,
 * but for what is shown.
 */
final class JobScheduler implements Measured {
  /** As in CouchDB, a function that filters is read again after half a minute on average. */
  private static final long FIRST_PAUSE_SECONDS = 64;

  private static final int MOST_DOUBLINGS = 12;

  private final Supplier<JobSettings> settings;
  private final Runs runs;
  private final Consumer<Note> notes;
  private final InstantSource clock;
  private final Map<JobKey, ReplicationJob> jobs = new ConcurrentHashMap<>();
  private final Map<String, ReplicationJob> byId = new ConcurrentHashMap<>();
  private final Map<DatabaseName, Set<ReplicationJob>> bySource = new ConcurrentHashMap<>();
  private final TreeSet<ReplicationJob> waiting =
      new TreeSet<>(
          Comparator.comparing(ReplicationJob::lastStarted)
              .thenComparing(job -> job.key().database().text())
              .thenComparing(job -> job.key().document()));
  private final PriorityQueue<Pause> pausing =
      new PriorityQueue<>(Comparator.comparing(Pause::until));
  private final Set<ReplicationJob> active = ConcurrentHashMap.newKeySet();
  private final Queue<Ended> ended = new ConcurrentLinkedQueue<>();
  private final Map<Counted, AtomicLong> counts = new EnumMap<>(Counted.class);
  private Instant rotated;

  private record Pause(ReplicationJob job, Instant until) {}

  interface Runs {
    /**
     * Begins the run of a job. Never waits, never throws.
     *
     * @param end is told once how it has ended, on any thread
     */
    void begin(ReplicationJob job, Consumer<Ended> end);
  }

  /** How the run of a job has ended. */
  enum How {
    COMPLETED,
    STOPPED,
    FAILED,
    /** No run could be made, for now. */
    NOT_MADE,
    /** No run can ever be made of what the document says. */
    REFUSED,
    /** Nobody wants it any more. */
    UNWANTED
  }

  /**
   * @param reason of a failure, else empty
   */
  record Ended(ReplicationJob job, How how, String reason) {}

  /** What is counted, as in CouchDB. */
  private enum Counted {
    ADDS("jobs/adds"),
    REMOVES("jobs/removes"),
    STARTS("jobs/starts"),
    STOPS("jobs/stops"),
    CRASHES("jobs/crashes"),
    COMPLETED("docs/completed_state_updates"),
    FAILED("docs/failed_state_updates");

    private final String path;

    Counted(String path) {
      this.path = path;
    }
  }

  /**
   * @param notes get what is to be written into documents
   */
  JobScheduler(
      Supplier<JobSettings> settings, Runs runs, Consumer<Note> notes, InstantSource clock) {
    this.settings = settings;
    this.runs = runs;
    this.notes = notes;
    this.clock = clock;
    this.rotated = clock.instant();
    for (Counted event : Counted.values()) {
      counts.put(event, new AtomicLong());
    }
  }

  private void count(Counted event) {
    counts.get(event).incrementAndGet();
  }

  @Override
  public void describe(Meters meters) {
    for (String state : List.of("running", "idle", "pending", "crashed")) {
      meters
          .with("state", state)
          .level("lectus_replication_jobs", "Replications of documents.", () -> inState(state));
    }
    counts.forEach(
        (event, count) ->
            meters
                .with("event", event.name().toLowerCase(Locale.ROOT))
                .count(
                    "lectus_replication_job_events",
                    "What happened to replications of documents.",
                    count::get));
  }

  /** Returns what is counted under CouchDB's names. Thread-safe. */
  Map<String, Long> figures() {
    Map<String, Long> figures = new HashMap<>();
    counts.forEach((event, count) -> figures.put(event.path, count.get()));
    figures.put("jobs/running", inState("running") + inState("idle"));
    figures.put("jobs/pending", inState("pending"));
    figures.put("jobs/crashed", inState("crashed"));
    figures.put("jobs/total", (long) jobs.size());
    return figures;
  }

  private long inState(String state) {
    Phase phase =
        switch (state) {
          case "running" -> Phase.ACTIVE;
          case "idle" -> Phase.IDLE;
          case "pending" -> Phase.WAITING;
          default -> Phase.PAUSING;
        };
    return jobs.values().stream().filter(job -> job.phase() == phase).count();
  }

  /** Returns all jobs. Thread-safe. */
  Collection<ReplicationJob> jobs() {
    return jobs.values();
  }

  /** Returns the job of a document. Thread-safe. */
  Optional<ReplicationJob> job(JobKey key) {
    return Optional.ofNullable(jobs.get(key));
  }

  /** Returns the job with an id. Thread-safe. */
  Optional<ReplicationJob> job(String id) {
    return Optional.ofNullable(byId.get(id)).filter(job -> job.phase() != Phase.OVER);
  }

  /** Whether a database is the source of a job that waits for its changes. Thread-safe. */
  boolean isSource(DatabaseName name) {
    return bySource.containsKey(name);
  }

  /** Whether no run is going on. */
  boolean isIdle() {
    return active.isEmpty();
  }

  /** Adds a job, in place of another one of the same document. */
  void add(ReplicationJob job) {
    remove(job.key());
    Optional<String> refusal = job.description().id().flatMap(id -> claim(id, job));
    if (refusal.isPresent()) {
      refuse(job, refusal.get());
      return;
    }
    jobs.put(job.key(), job);
    job.description()
        .waitedFor()
        .ifPresent(
            source ->
                bySource.computeIfAbsent(source, same -> ConcurrentHashMap.newKeySet()).add(job));
    waiting.add(job);
    count(Counted.ADDS);
  }

  /**
   * Notes under which id a job runs. Thread-safe.
   *
   * @return why it is not to run, if another job does the same
   */
  Optional<String> claim(String id, ReplicationJob job) {
    ReplicationJob other = byId.putIfAbsent(id, job);
    return other == null || other == job
        ? Optional.empty()
        : Optional.of(
            "Replication `%s` specified by document `%s` already started, triggered by document `%s` from db `%s`"
                .formatted(
                    id,
                    job.key().document(),
                    other.key().document(),
                    other.key().database().text()));
  }

  /** Notes that a job does not run under this id. Thread-safe. */
  void release(String id, ReplicationJob job) {
    byId.remove(id, job);
  }

  private void refuse(ReplicationJob job, String reason) {
    count(Counted.FAILED);
    job.enter(Phase.OVER);
    notes.accept(
        Note.failed(job.key(), job.description().digest(), job.fence(), reason, clock.instant()));
  }

  /** Removes the job of a document, if there is one. Its run ends soon. */
  void remove(JobKey key) {
    ReplicationJob job = jobs.remove(key);
    if (job == null) {
      return;
    }
    waiting.remove(job);
    pausing.removeIf(it -> it.job() == job);
    job.description()
        .waitedFor()
        .ifPresent(
            source ->
                bySource.computeIfPresent(
                    source,
                    (same, all) -> {
                      all.remove(job);
                      return all.isEmpty() ? null : all;
                    }));
    job.id().ifPresent(id -> release(id, job));
    job.enter(Phase.OVER);
    job.run().ifPresent(Replication::stop);
    count(Counted.REMOVES);
  }

  /** A database may have changed: those that wait for that go on. */
  void moved(DatabaseName source) {
    for (ReplicationJob job : bySource.getOrDefault(source, Set.of())) {
      job.move();
      if (job.phase() == Phase.IDLE) {
        queue(job);
      }
    }
  }

  private void queue(ReplicationJob job) {
    job.enter(Phase.WAITING);
    waiting.add(job);
  }

  /** Takes what has ended, and gives turns. */
  void step() {
    for (Ended end = ended.poll(); end != null; end = ended.poll()) {
      active.remove(end.job());
      if (jobs.get(end.job().key()) == end.job()) {
        take(end);
      }
    }
    Instant now = clock.instant();
    while (!pausing.isEmpty() && !pausing.peek().until().isAfter(now)) {
      queue(pausing.remove().job());
    }
    JobSettings current = settings.get();
    if (Duration.between(rotated, now).toMillis() >= current.intervalMillis()) {
      rotated = now;
      rotate(current);
    }
    while (active.size() < current.maxJobs() && !waiting.isEmpty()) {
      begin(waiting.pollFirst(), now, current);
    }
  }

  private void begin(ReplicationJob job, Instant now, JobSettings current) {
    job.starts(now, current.maxHistory());
    active.add(job);
    count(Counted.STARTS);
    runs.begin(job, ended::add);
  }

  private void take(Ended end) {
    ReplicationJob job = end.job();
    Instant now = clock.instant();
    switch (end.how()) {
      case COMPLETED -> completed(job, now);
      case STOPPED -> {
        count(Counted.STOPS);
        job.stopped(now, settings.get().maxHistory());
        waiting.add(job);
      }
      case FAILED -> {
        count(Counted.CRASHES);
        pause(job, job.crashed(end.reason(), now, settings.get()), now);
        tellCrash(job, end.reason(), now);
      }
      case NOT_MADE -> {
        int doublings = Math.min(MOST_DOUBLINGS, job.failedToStart(end.reason(), now));
        long most = FIRST_PAUSE_SECONDS << doublings;
        pause(job, Duration.ofSeconds(ThreadLocalRandom.current().nextLong(1, most + 1)), now);
        tellCrash(job, end.reason(), now);
      }
      case REFUSED -> refuse(job, end.reason());
      case UNWANTED -> remove(job.key());
    }
  }

  private void pause(ReplicationJob job, Duration time, Instant now) {
    pausing.add(new Pause(job, now.plus(time)));
  }

  private void tellCrash(ReplicationJob job, String reason, Instant now) {
    if (settings.get().updatesDocuments()) {
      notes.accept(Note.crashed(job, reason, now));
    }
  }

  private void completed(ReplicationJob job, Instant now) {
    if (!job.description().continuous()) {
      count(Counted.COMPLETED);
      job.completed(Phase.OVER);
      notes.accept(Note.completed(job, now));
    } else if (job.isMoved()) {
      job.completed(Phase.WAITING);
      waiting.add(job);
    } else {
      job.completed(Phase.IDLE);
    }
  }

  /**
   * Stops what runs on and on, the longest first, as far as others wait and no more than CouchDB's
   * {@code max_churn}; what is beyond {@code max_jobs} in any case.
   */
  private void rotate(JobSettings current) {
    int beyond = active.size() - current.maxJobs();
    int room = Math.max(0, -beyond);
    int wanted = Math.min(waiting.size() - room, current.maxChurn());
    int toStop = Math.max(beyond, wanted);
    int stopped = stop(toStop, true);
    if (stopped < beyond) {
      stop(beyond - stopped, false);
    }
  }

  private int stop(int count, boolean continuous) {
    List<ReplicationJob> longest =
        active.stream()
            .filter(job -> job.phase() == Phase.ACTIVE && job.run().isPresent())
            .filter(job -> job.description().continuous() == continuous)
            .sorted(Comparator.comparing(ReplicationJob::lastStarted))
            .limit(Math.max(0, count))
            .toList();
    longest.forEach(job -> job.run().ifPresent(Replication::stop));
    return longest.size();
  }
}
