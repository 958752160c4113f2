package lectus.http.exchange;

import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.util.Optional;
import java.util.function.Supplier;
import lectus.error.LectusException;
import lectus.http.BodyMemory;
import lectus.http.ParsedMemory;

/**
 * What one exchange holds in memory, counted with all others: the body of its request and what is
 * made of it until the exchange is finished, and large pieces of its answer until the client has
 * taken them. What is not worth counting is decided here and nowhere else. For the connection's
 * event loop.
 */
final class HeldMemory {
  /** Smaller bodies of requests, and smaller whole answers, are not worth counting. */
  private static final int FREE_BYTES = 64 << 10;

  /**
   * The same of a streamed answer's parts, of which few wait at a time. Larger ones have large
   * documents.
   */
  private static final int FREE_PART_BYTES = 512 << 10;

  private final BodyMemory memory;
  private long bodyBytes;
  private Optional<ParsedMemory> parsed = Optional.empty();

  HeldMemory(BodyMemory memory) {
    this.memory = memory;
  }

  /**
   * Counts a whole body, before it is held.
   *
   * @throws LectusException service_unavailable (503): others hold too much
   */
  void body(int bytes) {
    bodyGrows(bytes, bytes);
  }

  /**
   * Counts a part of a body that arrives.
   *
   * @param length of the body with this part, in bytes
   * @throws LectusException service_unavailable (503): others hold too much
   */
  void bodyGrows(int partBytes, long length) {
    if (length > FREE_BYTES) {
      memory.reserve(partBytes, bodyBytes);
      bodyBytes += partBytes;
    }
  }

  /** Counts what is made of the body, on whatever thread. */
  ParsedMemory parsing() {
    ParsedMemory beginning = memory.parsing(bodyBytes);
    parsed = Optional.of(beginning);
    return beginning;
  }

  /**
   * Counts a whole answer while it waits for its client.
   *
   * @param sending completes when the client has taken it, or never will
   * @throws LectusException service_unavailable (503): others hold too much; nothing was sent
   */
  Future<Void> whileSent(Buffer answer, Supplier<Future<Void>> sending) {
    return answer.length() > FREE_BYTES ? counted(answer.length(), sending) : sending.get();
  }

  /** As {@link #whileSent}, of one part of a streamed answer. */
  Future<Void> whilePartSent(Buffer part, Supplier<Future<Void>> sending) {
    return part.length() > FREE_PART_BYTES ? counted(part.length(), sending) : sending.get();
  }

  private Future<Void> counted(int bytes, Supplier<Future<Void>> sending) {
    memory.reserve(bytes, bodyBytes);
    Future<Void> sent;
    try {
      sent = sending.get();
    } catch (RuntimeException | Error unsent) {
      memory.release(bytes);
      throw unsent;
    }
    return sent.onComplete(taken -> memory.release(bytes));
  }

  /** The request is finished. What its client has not taken yet is given back when it has. */
  void giveBack() {
    parsed.ifPresent(ParsedMemory::release);
    parsed = Optional.empty();
    memory.release(bodyBytes);
    bodyBytes = 0;
  }
}
