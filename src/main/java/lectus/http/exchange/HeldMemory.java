package lectus.http.exchange;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import java.time.Duration;
import java.util.function.Supplier;
import lectus.error.LectusException;
import lectus.http.limits.BodyMemory;
import lectus.http.limits.ClientMemory;
import lectus.http.limits.MemoryAccount;
import lectus.http.limits.ParsedMemory;

/**
 * The memory that one exchange holds, counted together with all others: the body of its request and
 * what it is parsed into, until the exchange is finished, and large pieces of its answer until the
 * client has read them. Parts of streamed answers are counted by {@link
 * lectus.http.limits.PageMemory}. For the connection's event loop.
 */
public final class HeldMemory {
  /** Bytes of a body that are not parsed, for one that may be. */
  private static final int PASSING_PART = 5;

  private final BodyMemory bodies;
  final BodyMemory.Share share;
  private final MemoryAccount answers;
  private final MemoryAccount filters;
  private final Context context;
  private final Duration patience;
  private final Supplier<?> client;
  private long bodyBytes;
  private long passingBytes;
  private boolean bodyIsCompressed;
  private long filterBytes;
  private long sendingBytes;

  /**
   * @param patience how long the request waits for room
   * @param client with whose requests those of others take turns
   */
  HeldMemory(ClientMemory memory, Context context, Duration patience, Supplier<?> client) {
    this.bodies = memory.bodies();
    this.share = bodies.share();
    this.answers = memory.pages();
    this.filters = memory.filters();
    this.context = context;
    this.patience = patience;
    this.client = client;
  }

  /**
   * Counts a body, or an arriving part of one, before it is held.
   *
   * @return completes when it is the client's turn and there is room; fails with
   *     service_unavailable (503) if that takes too long
   */
  public Future<Void> bodyGrows(long bytes) {
    return grown(bytes).onSuccess(counted -> bodyBytes += bytes);
  }

  /** As {@link #bodyGrows}, at once; returns whether there is room. */
  public boolean tryBodyGrows(long bytes) {
    boolean fits = share.tryGrow(bytes);
    bodyBytes += fits ? bytes : 0;
    return fits;
  }

  /** Gives back what is no longer held of a body. */
  public void bodyShrinks(long bytes) {
    share.shrink(bytes);
    bodyBytes -= bytes;
  }

  /**
   * Counts what is held of a body while it passes through, in place of what was before. Nothing is
   * made of it, so each byte counts as a {@value #PASSING_PART}th of one that may be parsed.
   *
   * @return as {@link #bodyGrows}
   */
  Future<Void> passes(long bytes) {
    return grown(bytes / PASSING_PART - passingBytes / PASSING_PART)
        .onSuccess(counted -> passingBytes = bytes);
  }

  /** As {@link #passes}, at once; returns whether there is room. */
  boolean tryPasses(long bytes) {
    long more = bytes / PASSING_PART - passingBytes / PASSING_PART;
    if (more > 0 && !share.tryGrow(more)) {
      return false;
    }
    if (more < 0) {
      share.shrink(-more);
    }
    passingBytes = bytes;
    return true;
  }

  private Future<Void> grown(long bytes) {
    if (bytes <= 0) {
      share.shrink(-bytes);
      return Future.succeededFuture();
    }
    Promise<Void> counted = Promise.promise();
    if (share.growOrWait(bytes, client, () -> Dispatch.post(context, counted::tryComplete))) {
      return Future.succeededFuture();
    }
    long timer =
        context
            .owner()
            .setTimer(
                patience.toMillis(),
                late -> {
                  if (share.giveUp()) {
                    counted.tryFail(bodies.refusal());
                  } else if (!share.isClosed()) {
                    // It was given the memory, and could not be told.
                    counted.tryComplete();
                  }
                });
    return counted.future().onComplete(done -> context.owner().cancelTimer(timer));
  }

  /** Notes that the length of the body is unknown until it is decompressed. */
  void bodyIsCompressed() {
    bodyIsCompressed = true;
  }

  /** As {@link #bodyGrows}, by the decompressed bytes. */
  Future<Void> bodyIsDecompressed(int bytes) {
    bodyIsCompressed = false;
    return bodyGrows(bytes);
  }

  /** Whether handling the body takes a while. */
  boolean hasLargeBody() {
    return bodyIsCompressed || bodyBytes + passingBytes > MemoryAccount.SMALL_BYTES;
  }

  /** Returns what counts, on any thread, what the body is parsed into. */
  ParsedMemory parsing() {
    return share.parsing(bodyBytes);
  }

  /** Waits, as {@link #bodyGrows}, for room for what a body is parsed into. */
  Future<Void> parsedGrows(ParsedMemory parsing) {
    return grown(parsing.missing()).onSuccess(counted -> parsing.again());
  }

  /**
   * Counts an answer, or a part of one, while it waits for its client.
   *
   * @param sending completes when the client has read it, or never will
   * @throws LectusException service_unavailable (503): others hold too much; nothing was sent
   */
  Future<Void> whileSent(Buffer answer, Supplier<Future<Void>> sending) {
    return answer.length() > MemoryAccount.FREE_BYTES
        ? counted(answer.length(), sending)
        : sending.get();
  }

  private Future<Void> counted(int bytes, Supplier<Future<Void>> sending) {
    answers.reserve(bytes, sendingBytes);
    sendingBytes += bytes;
    Future<Void> sent;
    try {
      sent = sending.get();
    } catch (RuntimeException | Error unsent) {
      taken(bytes);
      throw unsent;
    }
    return sent.onComplete(done -> taken(bytes));
  }

  private void taken(int bytes) {
    answers.release(bytes, sendingBytes);
    sendingBytes -= bytes;
  }

  /**
   * Counts a filter in place of the body from now on, until the request is finished: the body was
   * parsed, and a live feed keeps the filter.
   *
   * @param bytes of memory
   * @throws LectusException {@code too_large} (413): too large even alone; service_unavailable
   *     (503): others hold too much
   */
  public void bodyBecomesFilter(long bytes) {
    holdsFilter(bytes);
    giveBackBody();
  }

  /** As {@link #bodyBecomesFilter}, for a filter in the URL. */
  public void holdsFilter(long bytes) {
    if (bytes > filters.limit()) {
      throw LectusException.tooLarge(
          "too_large",
          "The filter takes more memory than filters may have, "
              + filters.limit()
              + " bytes; ask for less at a time.");
    }
    filters.reserve(bytes, filterBytes);
    filterBytes += bytes;
  }

  /**
   * Releases what a finished request held. What its client has not read yet is released once it
   * has.
   */
  void giveBack() {
    giveBackBody();
    filters.release(filterBytes, filterBytes);
    filterBytes = 0;
  }

  private void giveBackBody() {
    share.close();
    bodyBytes = 0;
    passingBytes = 0;
  }
}
