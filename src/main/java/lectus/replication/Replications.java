package lectus.replication;

import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import lectus.database.UserContext;
import lectus.error.LectusException;
import lectus.json.JsonBuffer;
import lectus.metrics.Tasks;
import lectus.metrics.Tasks.RunningTask;
import lectus.replication.Replication.Outcome;
import lectus.replication.ReplicationRequest.Options;
import lectus.replication.ShownReplication.Event;
import lectus.replication.ShownReplication.EventType;
import lectus.store.Awaiting;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The replications that this server's clients have asked for with {@code _replicate}. They end with
 * the server. A continuous one that fails is begun anew after a pause. Thread-safe.
 */
public final class Replications implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Replications.class);

  private static final int MOST = 1_000;

  /** Of one user who is no server admin. */
  private static final int MOST_OF_USER = 100;

  private static final long FIRST_PAUSE_SECONDS = 5;
  private static final int MAX_DOUBLINGS = 7;
  private static final int STOP_SECONDS = 5;

  private final Replicator replicator;
  private final Tasks tasks;
  private final Map<String, Asked> running = new HashMap<>();
  private OfDocuments ofDocuments = (id, user) -> Optional.empty();
  private boolean isClosed;

  /** The replications of documents, beside which none of the same id begins. */
  public interface OfDocuments {
    /**
     * Returns the end of a replication if it goes on; it may be one that never ends.
     *
     * @throws LectusException {@code forbidden}: it is of somebody else
     */
    Optional<CompletableFuture<Outcome>> find(String id, UserContext user);
  }

  public Replications(Replicator replicator, Tasks tasks) {
    this.replicator = replicator;
    this.tasks = tasks;
  }

  public Replicator replicator() {
    return replicator;
  }

  /** A replication, and who wants it. */
  private final class Asked {
    private final UserContext user;
    private final Instant began = Instant.now();

    /** Under which it is known, whatever the function that filters becomes. */
    private final String id;

    private volatile Replication run;
    private volatile RunningTask task;
    private int failures;

    Asked(UserContext user, Replication run) {
      this.user = user;
      this.id = run.id().toString();
      this.run = run;
    }

    CompletableFuture<Outcome> start() {
      task = tasks.begin("replication", this::task);
      CompletableFuture<Outcome> outcome = run.start();
      outcome.whenComplete((done, failure) -> ended(failure));
      return outcome;
    }

    private ShownReplication shown() {
      ReplicationRequest request = run.request();
      return new ShownReplication(
          user.name(),
          Optional.of(run.id().toString()),
          Optional.empty(),
          Optional.empty(),
          request.source().shown(),
          request.target().shown());
    }

    private byte[] figures() {
      JsonBuffer out = new JsonBuffer(512);
      run.statistics().append(out);
      return out.toBytes();
    }

    private String task() {
      Options options = run.request().options();
      return shown().task(options.continuous(), options.checkpointMillis(), figures());
    }

    void appendJob(String node, JsonBuffer out) {
      String pid = "<0." + System.identityHashCode(this) + ".1>";
      List<Event> history =
          List.of(
              new Event(EventType.STARTED, began, Optional.empty()),
              new Event(EventType.ADDED, began, Optional.empty()));
      shown().appendJob(node, Optional.of(pid), figures(), history, began, out);
    }

    private void ended(Throwable failure) {
      task.close();
      boolean goesOn = failure != null && run.request().options().continuous() && isWanted(this);
      if (goesOn) {
        long pause = FIRST_PAUSE_SECONDS << Math.min(failures++, MAX_DOUBLINGS);
        Executor later =
            CompletableFuture.delayedExecutor(
                pause, TimeUnit.SECONDS, replicator.executor(user.name()));
        CompletableFuture.runAsync(this::again, later)
            .whenComplete(
                (begun, notMade) -> {
                  if (notMade != null) {
                    LOG.warn("Replication {} does not begin", id, notMade);
                    ended(notMade);
                  }
                });
      } else {
        forget(this);
      }
    }

    private void again() {
      if (isWanted(this)) {
        run = replicator.prepare(run.request(), user, Optional.empty());
        start();
        if (!isWanted(this)) {
          // It was cancelled meanwhile, and nobody can do so again.
          run.stop();
        }
      }
    }
  }

  private synchronized boolean isWanted(Asked asked) {
    return !isClosed && running.get(asked.id) == asked;
  }

  private synchronized void forget(Asked asked) {
    running.remove(asked.id, asked);
  }

  /**
   * A replication that was begun, or ran already.
   *
   * @param outcome fails with {@link ReplicationFailure}
   */
  public record Begun(ReplicationId id, CompletableFuture<Outcome> outcome) {}

  /** Begins a replication unless it runs. */
  public CompletableFuture<Begun> begin(ReplicationRequest request, UserContext user) {
    return CompletableFuture.supplyAsync(
            () -> begin(replicator.prepare(request, user, Optional.empty()), user),
            replicator.executor(user.name()))
        .exceptionallyCompose(
            failure -> CompletableFuture.failedFuture(ReplicationFailure.of(failure)));
  }

  private synchronized Begun begin(Replication run, UserContext user) {
    Asked known = running.get(run.id().toString());
    if (known != null) {
      requireOwner(known, user);
      return new Begun(run.id(), known.run.outcome());
    }
    if (isClosed || running.size() >= MOST || hasTooMany(user)) {
      throw LectusException.unavailable("Too many replications run here.");
    }
    Asked asked = new Asked(user, run);
    // A document's replication that begins just now finds it there.
    running.put(asked.id, asked);
    Optional<CompletableFuture<Outcome>> other;
    try {
      other = ofDocuments.find(asked.id, user);
    } catch (RuntimeException refused) {
      running.remove(asked.id);
      throw refused;
    }
    if (other.isPresent()) {
      running.remove(asked.id);
    }
    return new Begun(run.id(), other.orElseGet(asked::start));
  }

  private boolean hasTooMany(UserContext user) {
    return !user.isServerAdmin()
        && running.values().stream().filter(it -> it.user.name().equals(user.name())).count()
            >= MOST_OF_USER;
  }

  /** Notes which replications documents describe. */
  public synchronized void besides(OfDocuments others) {
    ofDocuments = others;
  }

  /** Whether a client has asked for the replication with this id, and it goes on. */
  public synchronized boolean goesOn(String id) {
    return running.containsKey(id);
  }

  private static void requireOwner(Asked asked, UserContext user) {
    if (!user.isServerAdmin() && !asked.user.name().equals(user.name())) {
      throw LectusException.unauthorized("You are not a server admin.");
    }
  }

  /** Returns the id of the replication that a request describes. */
  public CompletableFuture<String> idOf(ReplicationRequest request, UserContext user) {
    return CompletableFuture.supplyAsync(
        () -> replicator.prepare(request, user, Optional.empty()).id().toString(),
        replicator.executor(user.name()));
  }

  /**
   * Stops a replication.
   *
   * @return whether it ran
   * @throws LectusException {@code unauthorized}: it is another user's
   */
  public boolean cancel(String id, UserContext user) {
    Asked asked;
    synchronized (this) {
      asked = running.get(id);
      if (asked == null) {
        return false;
      }
      requireOwner(asked, user);
      running.remove(id);
    }
    asked.run.stop();
    return true;
  }

  /** Returns what appends each as {@code _scheduler/jobs} shows it, by their ids. */
  public synchronized Map<String, Consumer<JsonBuffer>> jobs(String node) {
    Map<String, Consumer<JsonBuffer>> jobs = new HashMap<>();
    running.forEach((id, asked) -> jobs.put(id, out -> asked.appendJob(node, out)));
    return jobs;
  }

  /** Stops all, which save their checkpoints if that takes no longer than a stop may. */
  @Override
  public void close() {
    List<Asked> all;
    synchronized (this) {
      isClosed = true;
      all = List.copyOf(running.values());
    }
    all.forEach(asked -> asked.run.stop());
    CompletableFuture<?>[] ends =
        all.stream()
            .map(asked -> asked.run.outcome().handle((done, failure) -> done))
            .toArray(CompletableFuture[]::new);
    Awaiting.await(
        CompletableFuture.allOf(ends).completeOnTimeout(null, STOP_SECONDS, TimeUnit.SECONDS));
    replicator.close();
    all.forEach(asked -> asked.task.close());
  }
}
