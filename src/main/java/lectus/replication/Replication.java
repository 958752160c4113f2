package lectus.replication;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import lectus.changes.page.NormalFeed;
import lectus.http.client.CouchClient.RemoteFailure;
import lectus.http.client.HttpCaller.TooLong;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonObject;
import lectus.replication.BatchCopy.Limits;
import lectus.replication.BatchCopy.Wanted;
import lectus.replication.Checkpoints.Place;
import lectus.replication.Source.Asked;
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

  /** The same of a replication that waits and has no checkpoints: of these there are many. */
  private static final int LONGEST_PLACE = 4 << 10;

  /** So many bytes of a page of changes are not counted. */
  private static final int USUAL_PAGE_BYTES = 128 << 10;

  /** Of a page with small documents, with some more than {@link NormalFeed} lets it have. */
  private static final int FULL_PAGE_BYTES = NormalFeed.SMALL_DOCUMENTS_BYTES + (288 << 10);

  private static final int KILOBYTE = 1 << 10;

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

  /** How many changes are asked for: fewer after an answer for which there was no room. */
  private int atOnce;

  /** Whether most of the last batch was missing, so that documents may come with their changes. */
  private volatile boolean lacksMost = true;

  /** What pages of changes have of the memory for those of all runs. */
  private int pageKilobytes;

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

  /** Changes that are copied together. */
  private static final class Batch {
    private final JsonValue end;
    private final int bytes;
    private final PageMemory memory;

    /** Null once all is copied: one before it may take long. */
    private ChangesPage page;

    Batch(ChangesPage page, int bytes, PageMemory memory) {
      this.end = page.end();
      this.bytes = bytes;
      this.memory = memory;
      this.page = page;
    }

    /** Whether there is room for more bytes beside those of the page. */
    boolean hasRoom(int more) {
      return memory.upTo(bytes + more);
    }
  }

  /**
   * What a page of changes takes of the memory for those of all runs. A usual one takes nothing.
   */
  private final class PageMemory {
    private int kilobytes;

    /** Takes as much as so many bytes need; false if there is not so much. */
    boolean upTo(int bytes) {
      synchronized (Replication.this) {
        int more = counted(bytes) - kilobytes;
        boolean isThere = !outcome.isDone() && (more <= 0 || limits.pages().tryAcquire(more));
        if (isThere && more > 0) {
          kilobytes += more;
          pageKilobytes += more;
        }
        return isThere;
      }
    }

    /** Gives back what so many bytes do not need. */
    void downTo(int bytes) {
      synchronized (Replication.this) {
        // The end of the run may have given it back.
        int spare = Math.min(kilobytes - counted(bytes), pageKilobytes);
        if (spare > 0) {
          limits.pages().release(spare);
          pageKilobytes -= spare;
          kilobytes -= spare;
        }
      }
    }

    private static int counted(int bytes) {
      return Math.max(0, bytes - USUAL_PAGE_BYTES) / KILOBYTE;
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
    this.atOnce = request.options().batch();
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
   * Returns where a later run may begin; empty if its checkpoint says so, or if it is too long. It
   * has ended, and has not failed.
   */
  public Optional<Place> place() {
    boolean isKept =
        checkpoints != null
            && !request.options().usesCheckpoints()
            && written.toJson().length() <= LONGEST_PLACE;
    return isKept ? Optional.of(checkpoints.place(written)) : Optional.empty();
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
    synchronized (this) {
      limits.pages().release(pageKilobytes);
      pageKilobytes = 0;
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
    int most;
    synchronized (this) {
      boolean isOver = isStopped || (hasCaughtUp && !request.options().continuous());
      if (isReading || isOver || underway.size() >= request.options().workers()) {
        return;
      }
      isReading = true;
      steps++;
      waits = hasCaughtUp;
      from = since;
      most = atOnce;
    }
    PageMemory memory = new PageMemory();
    boolean withDocuments = lacksMost && passesHttp() && !waits && memory.upTo(FULL_PAGE_BYTES);
    long asked = waits ? System.nanoTime() : 0;
    CompletableFuture<byte[]> changes;
    try {
      changes = source.changes(new Asked(from, most, waits, withDocuments, memory::upTo));
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
          boolean isQuick = waits && System.nanoTime() - asked < QUICK_NANOS;
          if (cause == null) {
            step(() -> arrived(page, most, memory, isQuick));
          } else {
            memory.downTo(0);
            step(() -> readAgain(cause));
          }
          executor.execute(this::stepEnded);
        });
  }

  /** Between databases of one store, documents are copied as they are stored. */
  private boolean passesHttp() {
    return source instanceof RemoteDatabase || target instanceof RemoteDatabase;
  }

  /**
   * @param asked how many changes were asked for
   * @param isQuick whether a source that was to wait for changes has not waited
   */
  private void arrived(byte[] page, int asked, PageMemory memory, boolean isQuick) {
    if (isStopped) {
      return;
    }
    memory.downTo(page.length);
    Batch batch = take(page, asked, memory);
    boolean isEmpty = isQuick && batch.page.rows() == 0;
    if (isEmpty && !(source instanceof LocalDatabase) && isToRead()) {
      readAfter(FIRST_PAUSE_MILLIS << Math.min(emptyReads++, MOST_EMPTY));
    } else {
      emptyReads = isEmpty ? emptyReads : 0;
      read();
    }
    if (batch.page.rows() == 0) {
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

  private Batch take(byte[] answer, int asked, PageMemory memory) {
    ChangesPage page;
    try {
      page = ChangesPage.of(answer);
    } catch (IOException none) {
      throw ReplicationFailure.passing("changes_reader_died", "The changes are none.");
    }
    if (page.end().toJson().length() > LONGEST_SEQUENCE) {
      throw ReplicationFailure.passing("changes_reader_died", "The last sequence is too long.");
    }
    boolean goesOn = page.rows() >= asked || request.options().continuous();
    if (goesOn && page.leadsNowhere(since)) {
      throw ReplicationFailure.passing(
          "changes_reader_died", "The changes end where they begin, so they would come again.");
    }
    Batch batch = new Batch(page, answer.length, memory);
    synchronized (this) {
      isReading = false;
      failedReads = 0;
      atOnce = Math.min(request.options().batch(), 2 * asked);
      hasRows |= page.rows() > 0;
      hasCaughtUp = page.rows() < asked;
      since = page.end();
      underway.add(batch);
    }
    statistics.hasRead(page.end(), page.pending());
    return batch;
  }

  /** A read that was cut off is repeated, as often as any request. */
  private void readAgain(Throwable cause) {
    if (isStopped) {
      return;
    }
    Throwable known = cause.getCause() instanceof RemoteFailure inner ? inner : cause;
    if (known.getCause() instanceof TooLong && atOnce > 1) {
      synchronized (this) {
        atOnce /= 2;
        isReading = false;
      }
      read();
      return;
    }
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
    BatchCopy copying = copying();
    Collection<List<Wanted>> alone = copying.copy(batch.page, batch::hasRoom);
    lacksMost = 2 * copying.missing() >= batch.page.rows();
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
      batch.page = null;
      while (!underway.isEmpty() && underway.peek().page == null) {
        written = underway.remove().end;
      }
    }
    batch.memory.downTo(0);
    statistics.hasWritten(written);
    read();
  }
}
