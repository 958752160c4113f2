package lectus.http.memory;

import lectus.error.LectusError;
import lectus.error.LectusException;

/**
 * Counts what is made of one request's body while it is read. Small values may take forty times
 * their JSON, so a body that has been let in is no measure of it. Counted against {@link
 * MemoryAccount}, which takes it that a body grows {@value #GROWTH} times: what it grows beyond
 * that is reserved step by step. One request alone may take no more than that of the whole budget,
 * but the largest document in any case.
 *
 * <p>For one thread at a time.
 */
public final class ParsedMemory {
  private static final int GROWTH = 4;

  /** More than the largest document takes. */
  private static final long LEAST_BYTES = 32 << 20;

  /** So that not every document goes to a counter that all share. */
  private static final int STEP_BYTES = 64 << 10;

  private final MemoryAccount memory;
  private final long body;
  private long parsed;
  private long reserved;

  /**
   * @param body what is held for the body already, in bytes of JSON
   */
  ParsedMemory(MemoryAccount memory, long body) {
    this.memory = memory;
    this.body = body;
  }

  /**
   * @param bytes of memory that hold a further part of the body
   * @throws LectusException {@code too_large} (413): the body will not fit, even alone;
   *     service_unavailable (503): others hold too much
   */
  public void add(long bytes) {
    parsed += bytes;
    if (parsed > mostBytes()) {
      throw new LectusException(
          new LectusError.TooLarge(
              "too_large",
              "The documents take more memory than a request may have, "
                  + mostBytes()
                  + " bytes; send fewer at a time."));
    }
    long missing = parsed / GROWTH - body - reserved;
    if (missing > 0) {
      long step = missing + STEP_BYTES;
      memory.reserve(step, body + reserved);
      reserved += step;
    }
  }

  private long mostBytes() {
    return Math.max(LEAST_BYTES, GROWTH * memory.limit());
  }

  public void release() {
    memory.release(reserved, body + reserved);
    reserved = 0;
  }
}
