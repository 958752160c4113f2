package lectus.replication;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import lectus.database.UserContext;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.json.JsonBuffer;
import lectus.metrics.Tasks;
import lectus.metrics.Tasks.RunningTask;
import lectus.replication.Replication.Outcome;
import lectus.store.Awaiting;

/**
 * The replications that this server's clients have asked for with {@code _replicate}. They end with
 * the server. A continuous one that fails is begun anew after a pause. Thread-safe.
 */
public final class Replications implements AutoCloseable {
  private static final int MOST = 1_000;
  private static final long FIRST_PAUSE_SECONDS = 5;
  private static final int MAX_DOUBLINGS = 7;
  private static final int STOP_SECONDS = 5;

  private final Replicator replicator;
  private final Tasks tasks;
  private final Map<String, Asked> running = new HashMap<>();
  private boolean isClosed;

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
    private Replication run;
    private RunningTask task;
    private int failures;

    Asked(UserContext user, Replication run) {
      this.user = user;
      this.run = run;
    }

    CompletableFuture<Outcome> start() {
      task = tasks.begin("replication", () -> described(run, user));
      CompletableFuture<Outcome> outcome = run.start();
      outcome.whenComplete((done, failure) -> ended(failure));
      return outcome;
    }

    private void ended(Throwable failure) {
      task.close();
      boolean goesOn = failure != null && run.request().options().continuous() && isWanted(this);
      if (goesOn) {
        long pause = FIRST_PAUSE_SECONDS << Math.min(failures++, MAX_DOUBLINGS);
        CompletableFuture.delayedExecutor(pause, TimeUnit.SECONDS, replicator.executor())
            .execute(this::again);
      } else {
        forget(this);
      }
    }

    private void again() {
      if (isWanted(this)) {
        try {
          run = replicator.prepare(run.request(), user, Optional.empty());
          start();
        } catch (RuntimeException failure) {
          ended(failure);
        }
      }
    }
  }

  private synchronized boolean isWanted(Asked asked) {
    return !isClosed && running.get(asked.run.id().toString()) == asked;
  }

  private synchronized void forget(Asked asked) {
    running.remove(asked.run.id().toString(), asked);
  }

  /**
   * A replication that was begun, or ran already.
   *
   * @param outcome fails with {@link ReplicationFailure}
   */
  public record Begun(ReplicationId id, CompletableFuture<Outcome> outcome) {}

  /**
   * Begins a replication unless it runs.
   *
   * @return fails with {@link ReplicationFailure}
   */
  public CompletableFuture<Begun> begin(ReplicationRequest request, UserContext user) {
    return CompletableFuture.supplyAsync(
            () -> begin(replicator.prepare(request, user, Optional.empty()), user),
            replicator.executor())
        .exceptionallyCompose(
            failure -> CompletableFuture.failedFuture(ReplicationFailure.of(failure)));
  }

  private synchronized Begun begin(Replication run, UserContext user) {
    Asked known = running.get(run.id().toString());
    if (known != null) {
      requireOwner(known, user);
      return new Begun(run.id(), known.run.outcome());
    }
    if (isClosed || running.size() >= MOST) {
      throw new LectusException(new LectusError.Unavailable("Too many replications run here."));
    }
    Asked asked = new Asked(user, run);
    running.put(run.id().toString(), asked);
    return new Begun(run.id(), asked.start());
  }

  private static void requireOwner(Asked asked, UserContext user) {
    if (!user.isServerAdmin() && !asked.user.name().equals(user.name())) {
      throw LectusException.forbidden("You are not a server admin.");
    }
  }

  /** Returns the id of the replication that a request describes. */
  public CompletableFuture<String> idOf(ReplicationRequest request, UserContext user) {
    return CompletableFuture.supplyAsync(
        () -> replicator.prepare(request, user, Optional.empty()).id().toString(),
        replicator.executor());
  }

  /**
   * Stops a replication.
   *
   * @return whether it ran
   * @throws LectusException {@code forbidden}
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

  /** Returns a replication as {@code _active_tasks} shows it, without brackets. */
  private static String described(Replication run, UserContext user) {
    JsonBuffer out = new JsonBuffer(512).ascii("\"user\":");
    user.name().ifPresentOrElse(out::string, out::nil);
    out.ascii(",\"replication_id\":").string(run.id().toString());
    out.ascii(",\"database\":null,\"doc_id\":null,\"source\":");
    out.string(run.request().source().shown());
    out.ascii(",\"target\":").string(run.request().target().shown());
    out.ascii(",\"continuous\":").bool(run.request().options().continuous());
    out.ascii(",\"checkpoint_interval\":").number(run.request().options().checkpointMillis());
    run.statistics().append(out.octet(','));
    return out.toString();
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
