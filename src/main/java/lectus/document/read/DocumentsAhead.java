package lectus.document.read;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.LongSupplier;
import lectus.document.PartsAhead;
import lectus.document.ReadAhead;

/**
 * Computes something of each of many stored documents, in order, within one transaction. The reads
 * of many documents begin before one is waited for, so a store far away is asked a few times for
 * all of them. Several threads share the work.
 *
 * <p>It ends early, but not before the first document, when it has read {@link #MAX_BYTES}, has
 * computed {@link #MAX_COMPUTED_BYTES}, or its time is up: far below the limits of a transaction,
 * whatever the size of documents. How many are read ahead follows from the size of the last ones.
 *
 * @param <D> a document
 * @param <S> its reads, once they have begun
 * @param <R> what is computed
 */
public final class DocumentsAhead<D, S, R> {
  /** Bytes of keys and values read. Each thread may exceed it by one document. */
  static final long MAX_BYTES = 8_000_000;

  /** Bytes of what is computed. One document alone may exceed it. */
  static final long MAX_COMPUTED_BYTES = 4_000_000;

  /** Far below the five seconds of a transaction. */
  static final Duration MAX_TIME = Duration.ofSeconds(2);

  /** Documents read ahead before the size of any is known. */
  private static final int FIRST = 128;

  private static final int MOST = 4_000;

  /** Target size of what is read ahead, in bytes. */
  private static final long AHEAD_BYTES = 2_000_000;

  /** Documents that one thread looks at, at a time. */
  static final int PART = 128;

  /** Parts under way at a time: on a cluster each would have a thread, and requests want some. */
  static final int MAX_PARTS = 4;

  private final Executor helpers;
  private final Work<D, S, R> work;
  private final ReadAhead ahead;
  private final LongSupplier nanos;
  private final long beganNanos;
  private long computedBytes;

  /** How something is computed of a document. Several threads use it side by side. */
  public interface Work<D, S, R> {
    /** Begins to read. */
    S start(D document);

    /** Begins to read what the first reads have shown to be there. */
    default void goOn(S started) {}

    /** Waits for the reads. */
    R finish(S started);

    /** Returns the bytes read for all documents so far. */
    long bytesRead();

    /** Returns the size of something computed, in bytes. */
    long sizeOf(R computed);
  }

  /**
   * @param helpers an executor whose threads help when they have time
   * @param ahead what was learnt of documents before; it learns more
   */
  public DocumentsAhead(Executor helpers, Work<D, S, R> work, ReadAhead ahead) {
    this(helpers, work, ahead, System::nanoTime);
  }

  /**
   * @param nanos the time
   */
  DocumentsAhead(Executor helpers, Work<D, S, R> work, ReadAhead ahead, LongSupplier nanos) {
    this.helpers = helpers;
    this.work = work;
    this.ahead = ahead;
    this.nanos = nanos;
    this.beganNanos = nanos.getAsLong();
  }

  /** Returns what is to learn how large documents are, before the first of them. */
  public static ReadAhead learning() {
    return new ReadAhead(FIRST, MOST, AHEAD_BYTES);
  }

  /** Returns what was computed of the first documents: of all but for the limits. Call it once. */
  public List<R> of(List<D> documents) {
    List<R> computed = new ArrayList<>(documents.size());
    int next = 0;
    while (next == computed.size() && next < documents.size()) {
      int from = next;
      next = Math.min(documents.size(), from + ahead.size());
      long before = bytes();
      List<R> some = window(documents.subList(from, next), from == 0);
      int size = some.size();
      keep(some, computed);
      ahead.took(Math.max(1, size), bytes() - before);
    }
    return computed;
  }

  private long bytes() {
    return work.bytesRead() + computedBytes;
  }

  private void keep(List<R> some, List<R> computed) {
    for (R each : some) {
      computedBytes += work.sizeOf(each);
      if (computedBytes > MAX_COMPUTED_BYTES && !computed.isEmpty()) {
        return;
      }
      computed.add(each);
    }
  }

  /** Half of the limits are for the first reads, so that not all of these are in vain. */
  private List<R> window(List<D> documents, boolean isFirst) {
    List<S> started = each(documents, isFirst, 2, work::start);
    List<S> wholly = each(started, isFirst, 1, this::goOn);
    return each(wholly, isFirst, 1, work::finish);
  }

  private S goOn(S started) {
    work.goOn(started);
    return started;
  }

  /** What is done with one document, by any thread. */
  private interface Step<A, B> {
    B of(A one);
  }

  /**
   * Does a step for each of the first.
   *
   * @param evenIfSpent for the very first one
   * @param share by what the limits are divided for it: 2 leaves a half for later steps
   */
  private <A, B> List<B> each(List<A> all, boolean evenIfSpent, int share, Step<A, B> step) {
    PartsAhead<List<B>> parts = new PartsAhead<>(helpers);
    List<B> done = new ArrayList<>(all.size());
    int begun = 0;
    int whole = 0;
    try {
      while (done.size() == whole && whole < all.size()) {
        while (parts.size() < MAX_PARTS && begun < all.size()) {
          List<A> part = all.subList(begun, Math.min(all.size(), begun + PART));
          boolean always = evenIfSpent && begun == 0;
          parts.add(() -> part(part, always, share, step));
          begun += part.size();
        }
        whole = Math.min(all.size(), whole + PART);
        done.addAll(parts.take());
      }
    } finally {
      parts.cancel();
    }
    return done;
  }

  private <A, B> List<B> part(List<A> all, boolean evenIfSpent, int share, Step<A, B> step) {
    List<B> done = new ArrayList<>(all.size());
    for (A one : all) {
      boolean always = evenIfSpent && done.isEmpty();
      if (!always && isSpent(share)) {
        break;
      }
      done.add(step.of(one));
    }
    return done;
  }

  private boolean isSpent(int share) {
    return work.bytesRead() >= MAX_BYTES / share
        || nanos.getAsLong() - beganNanos >= MAX_TIME.toNanos() / share;
  }
}
