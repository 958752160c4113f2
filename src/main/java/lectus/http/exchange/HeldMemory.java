package lectus.http.exchange;

import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.util.Optional;
import java.util.function.Supplier;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.http.memory.ClientMemory;
import lectus.http.memory.MemoryAccount;
import lectus.http.memory.ParsedMemory;

/**
 * The memory that one exchange holds, counted together with all others: the body of its request and
 * what it is parsed into, until the exchange is finished, and large pieces of its answer until the
 * client has read them. Parts of streamed answers are counted by {@link
 * lectus.http.memory.PageMemory}. For the connection's event loop.
 */
public final class HeldMemory {
  private final MemoryAccount bodies;
  private final MemoryAccount answers;
  private final MemoryAccount filters;
  private long bodyBytes;
  private boolean bodyIsCompressed;
  private long filterBytes;
  private long sendingBytes;
  private Optional<ParsedMemory> parsed = Optional.empty();

  HeldMemory(ClientMemory memory) {
    this.bodies = memory.bodies();
    this.answers = memory.pages();
    this.filters = memory.filters();
  }

  /**
   * Counts a body, or an arriving part of one, before it is held.
   *
   * @throws LectusException service_unavailable (503): others hold too much
   */
  public void bodyGrows(int bytes) {
    bodies.reserve(bytes, bodyBytes);
    bodyBytes += bytes;
  }

  /** Notes that the length of the body is unknown until it is decompressed. */
  void bodyIsCompressed() {
    bodyIsCompressed = true;
  }

  /** As {@link #bodyGrows}, by the decompressed bytes. */
  void bodyIsDecompressed(int bytes) {
    bodyIsCompressed = false;
    bodyGrows(bytes);
  }

  /** Whether handling the body takes a while. */
  boolean hasLargeBody() {
    return bodyIsCompressed || bodyBytes > MemoryAccount.SMALL_BYTES;
  }

  /** Counts what the body is parsed into, on any thread. */
  ParsedMemory parsing() {
    ParsedMemory beginning = bodies.parsing(bodyBytes);
    parsed = Optional.of(beginning);
    return beginning;
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
      throw new LectusException(
          new LectusError.TooLarge(
              "too_large",
              "The filter takes more memory than filters may have, "
                  + filters.limit()
                  + " bytes; ask for less at a time."));
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
    parsed.ifPresent(ParsedMemory::release);
    parsed = Optional.empty();
    bodies.release(bodyBytes, bodyBytes);
    bodyBytes = 0;
  }
}
