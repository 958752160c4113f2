package lectus.store.embedded;

import com.apple.foundationdb.EventKeeper.Events;
import com.apple.foundationdb.FDBException;
import com.apple.foundationdb.KeySelector;
import com.apple.foundationdb.KeyValue;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import lectus.error.FoundationDbError;
import lectus.error.NotInMemoryException;
import lectus.metrics.Stage;
import lectus.metrics.StageNotes;
import lectus.store.embedded.OwnWrites.KeyState;
import lectus.store.embedded.OwnWrites.WriteMap;
import lectus.store.embedded.RangeRead.Position;
import lectus.store.embedded.RangeRead.RangeChunk;
import lectus.store.embedded.RangeRead.RangeReader;
import lectus.store.embedded.RangeRead.RangeRequest;
import lectus.store.embedded.RangeRead.SelectorResolver;
import lectus.store.embedded.RangeRead.VisibleRows;
import lectus.store.embedded.Watches.Watch;
import lectus.store.embedded.Watches.WatchList;
import lectus.store.embedded.engine.StoreSnapshot;

/**
 * The reads of an attempt. They run on the calling thread and return completed futures, except when
 * they have to wait for a future read version. Snapshot reads of several threads run concurrently.
 */
final class AttemptReads {
  private static final long MOMENT_MILLIS = 1;

  private static final int READS_BETWEEN_LOOKS = 64;

  /** A stack of the JDK's default size takes some 10 000. */
  private static final int MANY_FRAMES = 500;

  private static final StackWalker WALKER = StackWalker.getInstance();
  private static final ThreadLocal<int[]> READS_OF_THREAD =
      ThreadLocal.withInitial(() -> new int[1]);

  private final Attempt attempt;

  AttemptReads(Attempt attempt) {
    this.attempt = attempt;
  }

  CompletableFuture<byte[]> get(byte[] key, boolean snapshot) {
    return answerBeside(
        () -> {
          check(KeySpace.isSpecial(key));
          if (Arrays.compareUnsigned(key, attempt.options.readEnd) >= 0
              && !KeySpace.isMetadataVersion(key)) {
            throw FoundationDbError.KEY_OUTSIDE_LEGAL_RANGE.exception();
          }
          attempt.hasRead = true;
          if (key.length > KeySpace.readLimit(key)) {
            return () -> null;
          }
          if (snapshot && attempt.ownWrites(true) == null && !KeySpace.isMetadataVersion(key)) {
            StoreSnapshot store = attempt.snapshot();
            return () -> value(store, key);
          }
          byte[] value = visible(key, snapshot);
          return () -> value;
        });
  }

  private byte[] visible(byte[] key, boolean snapshot) {
    WriteMap own = attempt.ownWrites(snapshot);
    KeyState state = own == null ? null : own.states.get(key);
    if (own != null) {
      if (own.isUnreadable(key) && !attempt.options.bypassUnreadable) {
        throw FoundationDbError.ACCESSED_UNREADABLE.exception();
      }
      if (state != null && !state.isDependent()) {
        byte[] value = state.over(null);
        return value == null ? null : value.clone();
      }
      if (state == null && own.isCleared(key)) {
        return null;
      }
    }
    byte[] stored = stored(key);
    if (!snapshot) {
      attempt.addReadKey(key.clone());
    }
    if (state == null) {
      return stored;
    }
    byte[] value = state.over(stored);
    return value == null ? null : value.clone();
  }

  private byte[] stored(byte[] key) {
    StoreSnapshot snapshot = attempt.snapshot();
    return KeySpace.isMetadataVersion(key) ? snapshot.metadataVersion() : value(snapshot, key);
  }

  private byte[] value(StoreSnapshot store, byte[] key) {
    byte[] value = attempt.options.memoryOnly ? store.getFromMemory(key) : store.get(key);
    if (attempt.events != null && value != null) {
      attempt.events.count(Events.BYTES_FETCHED, value.length);
    }
    return value;
  }

  CompletableFuture<byte[]> getKey(KeySelector selector, boolean snapshot) {
    return answer(
        () -> {
          check(false);
          byte[] end = attempt.options.readEnd;
          if (Arrays.compareUnsigned(selector.getKey(), end) > 0) {
            throw FoundationDbError.KEY_OUTSIDE_LEGAL_RANGE.exception();
          }
          attempt.hasRead = true;
          Position position = Position.of(selector);
          byte[] key = new SelectorResolver(visibleRows(snapshot), end).keyAt(position);
          if (!snapshot) {
            addSelectorConflict(position, key);
          }
          return key.clone();
        });
  }

  private void addSelectorConflict(Position position, byte[] result) {
    if (position.offset() > 0) {
      attempt.addReadRange(position.key(), KeySpace.after(result));
    } else {
      attempt.addReadRange(result, position.key());
    }
  }

  /** Reads the next rows of a range, as many as one reply of a cluster would hold. */
  CompletableFuture<RangeChunk> getRange(RangeRequest request) {
    if (request.isExactWithoutLimit()) {
      return CompletableFuture.failedFuture(
          FoundationDbError.EXACT_MODE_WITHOUT_LIMITS.exception());
    }
    long begun = System.nanoTime();
    CompletableFuture<RangeChunk> fetch =
        answerBeside(
            () -> {
              check(request.isSpecial());
              request.check(attempt.options.readEnd);
              if (request.isInverted()) {
                return () -> RangeChunk.EMPTY;
              }
              attempt.hasRead = true;
              VisibleRows rows = visibleRows(request.snapshot());
              RangeReader reader = new RangeReader(attempt, rows);
              if (request.snapshot() && rows.own() == null) {
                return () -> reader.read(request);
              }
              RangeChunk chunk = reader.read(request);
              return () -> chunk;
            });
    if (attempt.events != null) {
      fetch.whenComplete((read, failure) -> note(read, System.nanoTime() - begun));
    }
    return fetch;
  }

  /**
   * @param chunk null if the read failed
   */
  private void note(RangeChunk chunk, long nanos) {
    attempt.events.increment(Events.RANGE_QUERY_FETCHES);
    attempt.events.timeNanos(Events.RANGE_QUERY_FETCH_TIME_NANOS, nanos);
    if (chunk == null) {
      attempt.events.increment(Events.RANGE_QUERY_CHUNK_FAILED);
      return;
    }
    long bytes = 0;
    for (KeyValue row : chunk.rows()) {
      bytes += row.getKey().length + row.getValue().length;
    }
    attempt.events.count(Events.RANGE_QUERY_RECORDS_FETCHED, chunk.rows().size());
    attempt.events.count(Events.BYTES_FETCHED, bytes);
  }

  /**
   * Refuses memory-only reads: the store's iterators cannot tell in advance whether they need the
   * disk.
   */
  private VisibleRows visibleRows(boolean snapshot) {
    if (attempt.options.memoryOnly) {
      throw NotInMemoryException.INSTANCE;
    }
    return new VisibleRows(attempt.snapshot(), attempt.ownWrites(snapshot));
  }

  private void check(boolean special) {
    if (special) {
      attempt.checkDeferred();
      throw FoundationDbError.SPECIAL_KEYS_NO_MODULE_FOUND.exception();
    }
    attempt.checkUsable();
  }

  CompletableFuture<Long> getReadVersion() {
    return answer(
        () -> {
          attempt.checkDeferred();
          attempt.checkStopped();
          if (!attempt.hasReadVersion() && !attempt.commitCalled) {
            attempt.snapshot();
          }
          return attempt.readVersionOrNewest();
        });
  }

  CompletableFuture<Long> getApproximateSize() {
    synchronized (attempt) {
      try {
        attempt.checkDeferred();
        attempt.checkStopped();
      } catch (FDBException error) {
        return CompletableFuture.failedFuture(error);
      }
      return CompletableFuture.completedFuture(attempt.approximateSizeBytes);
    }
  }

  /** Reads a key and watches it from that version on. The commit activates the watch. */
  CompletableFuture<Void> watch(byte[] key) {
    CompletableFuture<Watch> watch = answer(() -> openWatch(key.clone()));
    return watch.isDone() && !watch.isCompletedExceptionally()
        ? watch.join().future()
        : watch.thenCompose(Watch::future);
  }

  private Watch openWatch(byte[] key) {
    check(false);
    if (attempt.options.readYourWritesDisabled) {
      throw FoundationDbError.WATCHES_DISABLED.exception();
    }
    if (Arrays.compareUnsigned(key, attempt.options.readEnd) >= 0
        && !KeySpace.isMetadataVersion(key)) {
      throw FoundationDbError.KEY_OUTSIDE_LEGAL_RANGE.exception();
    }
    if (key.length > KeySpace.writeLimit(key, attempt.options.rawAccess)) {
      throw FoundationDbError.KEY_TOO_LARGE.exception();
    }
    attempt.hasRead = true;
    byte[] seen = visible(key, false);
    byte[] copy = seen == null ? null : seen.clone();
    Watch watch = attempt.database.watches.open(key, copy, attempt.executor);
    if (attempt.watches == null) {
      attempt.watches = new WatchList();
    }
    attempt.watches.add(watch);
    return watch;
  }

  /** Runs a read now, or as soon as its version has been reached. */
  <T> CompletableFuture<T> answer(Supplier<T> read) {
    return answerBeside(
        () -> {
          T value = read.get();
          return () -> value;
        });
  }

  /**
   * Like {@link #answer}, but runs the result of {@code begin} outside the attempt's monitor. A
   * snapshot read of the store alone leaves the attempt unchanged, so many threads may run one.
   */
  private <T> CompletableFuture<T> answerBeside(Supplier<Supplier<T>> begin) {
    StageNotes stages = StageNotes.current();
    long begun = stages.begin();
    try {
      Supplier<T> read;
      synchronized (attempt) {
        read = begin.get();
      }
      return completed(read.get());
    } catch (FDBException error) {
      return failed(begin, error);
    } finally {
      stages.end(Stage.READ, begun);
    }
  }

  /**
   * A completed future runs what depends on it on the stack of its caller, who may read again there
   * and so on. So where the stack has become deep, the executor completes the future, a moment
   * later: by then the caller has said what depends on it.
   */
  private <T> CompletableFuture<T> completed(T value) {
    if (attempt.options.memoryOnly || !isStackDeep()) {
      return CompletableFuture.completedFuture(value);
    }
    CompletableFuture<T> later = new CompletableFuture<>();
    Runnable complete =
        () -> EmbeddedDatabase.callBack(attempt.executor, () -> later.complete(value));
    try {
      attempt.database.runtime.timer().schedule(complete, MOMENT_MILLIS, TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException closed) {
      later.complete(value);
    }
    return later;
  }

  /** Looks at the thread's stack now and then, because a look costs as much as several reads. */
  private static boolean isStackDeep() {
    int[] reads = READS_OF_THREAD.get();
    reads[0]++;
    return reads[0] % READS_BETWEEN_LOOKS == 0
        && WALKER.walk(frames -> frames.skip(MANY_FRAMES).findFirst().isPresent());
  }

  private <T> CompletableFuture<T> failed(Supplier<Supplier<T>> begin, FDBException error) {
    synchronized (attempt) {
      if (error.getCode() == FoundationDbError.FUTURE_VERSION.code()) {
        return new VersionWait<>(attempt, () -> begin.get().get()).start();
      }
      attempt.noteReadFailure(error);
      return CompletableFuture.failedFuture(error);
    }
  }

  /** Repeats a read of a future version until the version is reached, for a second at most. */
  private static final class VersionWait<T> {
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long PAUSE_MILLIS = 50;

    private final Attempt attempt;
    private final Supplier<T> read;
    private final CompletableFuture<T> result = new CompletableFuture<>();
    private final long startedNanos;

    VersionWait(Attempt attempt, Supplier<T> read) {
      this.attempt = attempt;
      this.read = read;
      startedNanos = attempt.database.nanoTime.getAsLong();
    }

    /** Requires the attempt's monitor. */
    CompletableFuture<T> start() {
      attempt.pending.addRead(result);
      pause();
      return result;
    }

    private void pause() {
      Runnable next = () -> EmbeddedDatabase.callBack(attempt.executor, this::tryAgain);
      try {
        attempt.database.runtime.timer().schedule(next, PAUSE_MILLIS, TimeUnit.MILLISECONDS);
      } catch (RejectedExecutionException closed) {
        result.completeExceptionally(FoundationDbError.TRANSACTION_CANCELLED.exception());
      }
    }

    private void tryAgain() {
      T value = null;
      RuntimeException failure = null;
      synchronized (attempt) {
        if (result.isDone()) {
          return;
        }
        try {
          value = attempt.readAgain(read);
        } catch (FDBException error) {
          if (error.getCode() == FoundationDbError.FUTURE_VERSION.code() && isPatient()) {
            pause();
            return;
          }
          attempt.noteReadFailure(error);
          failure = error;
        } catch (IllegalStateException closed) {
          failure = closed;
        }
      }
      if (failure == null) {
        result.complete(value);
      } else {
        result.completeExceptionally(failure);
      }
    }

    private boolean isPatient() {
      return attempt.database.nanoTime.getAsLong() - startedNanos < PATIENCE_NANOS;
    }
  }
}
