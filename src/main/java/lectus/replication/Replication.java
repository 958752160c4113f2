package lectus.replication;

import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import lectus.http.client.CouchClient.RemoteFailure;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonArray;
import lectus.json.JsonValue.JsonNumber;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;
import lectus.replication.BatchCopy.Limits;
import lectus.replication.BatchCopy.Wanted;
import lectus.replication.Checkpoints.Place;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One run of a replication, from its start until it has ended, failed, or was stopped. It reads the
 * changes of its source batch by batch, and several batches are copied at a time. A checkpoint
 * names the last change before which everything is written. While it waits for changes it has no
 * thread.
 */
public final class Replication {
  private static final Logger LOG = LoggerFactory.getLogger(Replication.class);

  /** How many characters of a position are kept, in memory and in checkpoints. */
  private static final int LONGEST_SEQUENCE = 256 << 10;

  private static final long FIRST_PAUSE_MILLIS = 250;
  private static final long LONGEST_PAUSE_MILLIS = 30_000;

  /** A server that waits for changes answers later, unless there are some. */
  private static final long QUICK_NANOS = 1_000_000_000;

  /** How often the pause after an empty answer is doubled: up to 4 s. */
  private static final int MOST_EMPTY = 4;

  private final ReplicationRequest request;
  private final ReplicationId id;
  private final String formerId;
  private final Source source;
  private final Target target;
  private final Executor executor;
  private final Limits limits;
  private final ReplicationStatistics statistics = new ReplicationStatistics();
  private final CompletableFuture<Outcome> outcome = new CompletableFuture<>();

  /** Batches that are being copied, in the order of the changes. */
  private final Deque<Batch> underway = new ArrayDeque<>();

  /** Of the next checkpoint. */
  private volatile CompletableFuture<Void> timer = new CompletableFuture<>();

  private Checkpoints checkpoints;
  private CompletableFuture<byte[]> reading = new CompletableFuture<>();
  private JsonValue since;
  private JsonValue written;
  private JsonValue saved;
  private boolean isReading;
  private boolean hasCaughtUp;
  private boolean hasRows;
  private boolean isSaving;

  /** How many steps run on threads. */
  private int steps;

  private int failedReads;

  /** How often in a row the source has answered at once that nothing has changed. */
  private int emptyReads;

  private volatile boolean isStopped;
  private volatile Throwable failure;

  /**
   * How a run has ended.
   *
   * @param result what {@code _replicate} answers
   * @param stopped whether it was stopped
   */
  public record Outcome(JsonObject result, boolean stopped) {}

  /** Changes that are copied together, and the position behind them. */
  private static final class Batch {
    private final Map<String, List<String>> revisions;
    private final JsonValue end;
    private boolean isDone;

    Batch(Map<String, List<String>> revisions, JsonValue end) {
      this.revisions = revisions;
      this.end = end;
    }
  }

  /**
   * @param formerId under which an earlier version kept checkpoints
   * @param executor whose threads may wait
   */
  Replication(
      ReplicationRequest request,
      ReplicationId id,
      String formerId,
      Source source,
      Target target,
      Executor executor,
      Limits limits) {
    this.request = request;
    this.id = id;
    this.formerId = formerId;
    this.source = source;
    this.target = target;
    this.executor = executor;
    this.limits = limits;
  }

  public ReplicationId id() {
    return id;
  }

  public ReplicationRequest request() {
    return request;
  }

  /** Returns what it has done, at any time. */
  public ReplicationStatistics statistics() {
    return statistics;
  }

  /**
   * Begins.
   *
   * @return its end; fails with {@link ReplicationFailure}
   */
  public CompletableFuture<Outcome> start() {
    step(this::begin);
    return outcome.copy();
  }

  /**
   * Returns where a later run may begin; empty if its checkpoint says so. It has ended, and has not
   * failed.
   */
  public Optional<Place> place() {
    return checkpoints == null || request.options().usesCheckpoints()
        ? Optional.empty()
        : Optional.of(checkpoints.place(written));
  }

  /** Returns its end, as {@link #start} does. */
  public CompletableFuture<Outcome> outcome() {
    return outcome.copy();
  }

  /** Ends it soon: what is being copied is copied, and a checkpoint says so. */
  public void stop() {
    isStopped = true;
    CompletableFuture<byte[]> waiting;
    synchronized (this) {
      waiting = reading;
    }
    waiting.cancel(false);
    step(() -> {});
  }

  /** Whether nobody wants it to go on. */
  boolean isStopped() {
    return isStopped;
  }

  /** One step of it, which may wait. */
  private interface Step {
    void take() throws Exception;
  }

  private void step(Step step) {
    synchronized (this) {
      if (outcome.isDone()) {
        return;
      }
      steps++;
    }
    try {
      executor.execute(() -> take(step));
    } catch (RuntimeException | Error refused) {
      fail(refused);
      stepEnded();
    }
  }

  private void take(Step step) {
    try {
      if (!hasFailed()) {
        step.take();
      }
    } catch (Throwable cause) {
      // What a stop has cut off is copied by the next run.
      boolean isCutOff = cause instanceof Exception && isStopped && !hasFailed();
      if (!isCutOff) {
        fail(cause);
      }
    } finally {
      stepEnded();
    }
  }

  private synchronized boolean hasFailed() {
    return failure != null;
  }

  private void fail(Throwable cause) {
    CompletableFuture<byte[]> waiting;
    synchronized (this) {
      failure = failure == null ? cause : failure;
      waiting = reading;
    }
    isStopped = true;
    waiting.cancel(false);
  }

  /** The last step ends the run, if it is over. */
  private void stepEnded() {
    boolean isLast;
    synchronized (this) {
      steps--;
      isLast = steps == 0 && !outcome.isDone() && (isStopped || isAtEnd());
      steps += isLast ? 1 : 0;
    }
    if (isLast) {
      end();
      synchronized (this) {
        steps--;
      }
    }
  }

  private boolean isAtEnd() {
    return hasCaughtUp && underway.isEmpty() && !request.options().continuous();
  }

  private void end() {
    // It would hold what the run has held.
    timer.cancel(false);
    try {
      if (!hasFailed() && checkpoints != null) {
        save();
      }
    } catch (RuntimeException | Error cause) {
      fail(cause);
    }
    Throwable cause;
    synchronized (this) {
      cause = failure;
    }
    if (cause != null) {
      LOG.warn("Replication {} has failed: {}", id, ReplicationFailure.of(cause).reason());
      outcome.completeExceptionally(ReplicationFailure.of(cause));
    } else if (checkpoints == null) {
      outcome.complete(new Outcome(new JsonObject(Map.of()), true));
    } else {
      outcome.complete(new Outcome(checkpoints.result(!hasRows), !isAtEnd()));
    }
  }

  private void begin() {
    if (request.options().creation().isPresent()) {
      target.create(request.options().creation().get());
    }
    checkpoints = new Checkpoints(request, source, target, id.base(), formerId);
    since = checkpoints.since();
    written = since;
    saved = since;
    statistics.goOn(checkpoints.formerSession(), since);
    if (request.options().usesCheckpoints() && request.options().checkpointMillis() > 0) {
      saveLater();
    }
    read();
  }

  private void saveLater() {
    timer = new CompletableFuture<>();
    timer
        .completeOnTimeout(null, request.options().checkpointMillis(), TimeUnit.MILLISECONDS)
        .thenRun(
            () -> {
              if (!isStopped && !outcome.isDone()) {
                step(this::save);
                saveLater();
              }
            });
  }

  private void save() {
    JsonValue upTo;
    synchronized (this) {
      if (isSaving || written.equals(saved) || !request.options().usesCheckpoints()) {
        return;
      }
      isSaving = true;
      upTo = written;
    }
    try {
      checkpoints.save(upTo, statistics);
      synchronized (this) {
        saved = upTo;
      }
    } finally {
      synchronized (this) {
        isSaving = false;
      }
    }
  }

  /** Begins to read the next changes, if there is room for another batch. */
  private void read() {
    boolean waits;
    JsonValue from;
    synchronized (this) {
      boolean isOver = isStopped || (hasCaughtUp && !request.options().continuous());
      if (isReading || isOver || underway.size() >= request.options().workers()) {
        return;
      }
      isReading = true;
      steps++;
      waits = hasCaughtUp;
      from = since;
    }
    long asked = waits ? System.nanoTime() : 0;
    CompletableFuture<byte[]> changes;
    try {
      changes = source.changes(from, request.options().batch(), waits);
    } catch (RuntimeException | Error cause) {
      changes = CompletableFuture.failedFuture(cause);
    }
    synchronized (this) {
      reading = changes;
    }
    if (isStopped) {
      changes.cancel(false);
    }
    changes.whenComplete(
        (page, cause) -> {
          step(() -> arrived(page, cause, waits && System.nanoTime() - asked < QUICK_NANOS));
          executor.execute(this::stepEnded);
        });
  }

  /**
   * @param isQuick whether a source that was to wait for changes has not waited
   */
  private void arrived(byte[] page, Throwable cause, boolean isQuick) {
    if (isStopped) {
      return;
    }
    if (cause != null) {
      readAgain(cause);
      return;
    }
    Batch batch = take(page);
    boolean isEmpty = isQuick && batch.revisions.isEmpty();
    if (isEmpty && !(source instanceof LocalDatabase) && isToRead()) {
      readAfter(FIRST_PAUSE_MILLIS << Math.min(emptyReads++, MOST_EMPTY));
    } else {
      emptyReads = isEmpty ? emptyReads : 0;
      read();
    }
    if (batch.revisions.isEmpty()) {
      done(batch);
    } else {
      step(() -> copy(batch));
    }
  }

  /** Whether nobody else reads on; then the caller has to. */
  private synchronized boolean isToRead() {
    boolean is = !isReading;
    isReading = true;
    return is;
  }

  private Batch take(byte[] page) {
    if (!(JsonValue.parse(page) instanceof JsonObject answer)
        || !(answer.get("results").orElse(null) instanceof JsonArray rows)) {
      throw ReplicationFailure.passing("changes_reader_died", "The changes are none.");
    }
    JsonValue end = answer.get("last_seq").orElseThrow();
    if (end.toJson().length() > LONGEST_SEQUENCE) {
      throw ReplicationFailure.passing("changes_reader_died", "The last sequence is too long.");
    }
    Batch batch = new Batch(revisions(rows), end);
    synchronized (this) {
      isReading = false;
      failedReads = 0;
      hasRows |= !rows.elements().isEmpty();
      hasCaughtUp = rows.elements().size() < request.options().batch();
      since = end;
      underway.add(batch);
    }
    statistics.hasRead(end, pending(answer));
    return batch;
  }

  private static OptionalLong pending(JsonObject answer) {
    return answer.get("pending").orElse(null) instanceof JsonNumber number
            && number.text().matches("[0-9]{1,18}")
        ? OptionalLong.of(Long.parseLong(number.text()))
        : OptionalLong.empty();
  }

  /** Returns the changed leaves of documents by their ids, each once. */
  static Map<String, List<String>> revisions(JsonArray rows) {
    Map<String, Set<String>> all = new LinkedHashMap<>();
    for (JsonValue row : rows.elements()) {
      if (row instanceof JsonObject object
          && object.get("id").orElse(null) instanceof JsonString id
          && object.get("changes").orElse(null) instanceof JsonArray changes) {
        Set<String> revisions = all.computeIfAbsent(id.value(), its -> new LinkedHashSet<>());
        for (JsonValue change : changes.elements()) {
          if (change instanceof JsonObject it) {
            Checkpoints.text(it, "rev").ifPresent(revisions::add);
          }
        }
      }
    }
    Map<String, List<String>> lists = new LinkedHashMap<>();
    all.forEach((id, revisions) -> lists.put(id, List.copyOf(revisions)));
    return lists;
  }

  /** A read that was cut off is repeated, as often as any request. */
  private void readAgain(Throwable cause) {
    Throwable known = cause.getCause() instanceof RemoteFailure inner ? inner : cause;
    if (!(known instanceof RemoteFailure remote) || failedReads >= request.options().retries()) {
      throw ReplicationFailure.of(cause);
    }
    long usual = Math.min(LONGEST_PAUSE_MILLIS, FIRST_PAUSE_MILLIS << Math.min(failedReads, 7));
    failedReads++;
    readAfter(
        Math.max(remote.pauseMillis(), usual / 2 + ThreadLocalRandom.current().nextLong(usual)));
  }

  /** Reads on after a pause, which a stop ends. */
  private void readAfter(long millis) {
    CompletableFuture<byte[]> pause = new CompletableFuture<>();
    synchronized (this) {
      isReading = true;
      steps++;
      reading = pause;
    }
    pause.whenComplete(
        (none, stopped) -> {
          step(this::readNow);
          executor.execute(this::stepEnded);
        });
    pause.completeOnTimeout(new byte[0], millis, TimeUnit.MILLISECONDS);
    if (isStopped) {
      pause.cancel(false);
    }
  }

  private void readNow() {
    synchronized (this) {
      isReading = false;
    }
    read();
  }

  private void copy(Batch batch) throws Exception {
    if (isStopped) {
      return;
    }
    Collection<List<Wanted>> alone = copying().copy(batch.revisions);
    AtomicInteger left = new AtomicInteger(alone.size());
    if (alone.isEmpty()) {
      done(batch);
    }
    alone.forEach(
        document ->
            step(
                () -> {
                  if (!isStopped) {
                    copying().copyAlone(document);
                    if (left.decrementAndGet() == 0) {
                      done(batch);
                    }
                  }
                }));
  }

  private BatchCopy copying() {
    return new BatchCopy(source, target, request.options(), statistics, limits, this::isStopped);
  }

  private void done(Batch batch) {
    synchronized (this) {
      batch.isDone = true;
      while (!underway.isEmpty() && underway.peek().isDone) {
        written = underway.remove().end;
      }
    }
    statistics.hasWritten(written);
    read();
  }

  /** Returns how a running replication is shown to people, in CouchDB's words. */
  public Optional<String> complaint() {
    return Optional.ofNullable(failure).map(it -> ReplicationFailure.of(it).reason());
  }
}
