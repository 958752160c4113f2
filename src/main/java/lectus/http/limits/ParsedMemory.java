package lectus.http.limits;

import lectus.error.LectusException;

/**
 * Counts what one request's body is parsed into. Small documents may take many times their JSON, so
 * the size of an admitted body says little. {@link BodyMemory} assumes that a body grows {@value
 * #GROWTH} times; growth beyond that is counted step by step. One request alone may take at most
 * {@value #GROWTH} times the whole limit, but always enough for the largest document.
 *
 * <p>For one thread at a time.
 */
public final class ParsedMemory {
  private static final int GROWTH = 4;

  /** More than the largest document takes. */
  private static final long MIN_BYTES = 56 << 20;

  /** Counts in steps, so that not every document updates a counter that all share. */
  private static final int STEP_BYTES = 64 << 10;

  private final BodyMemory memory;
  private final BodyMemory.Share share;
  private final long body;
  private long parsed;
  private long reserved;
  private long missing;

  /**
   * @param body bytes of JSON that the share has for the body
   */
  ParsedMemory(BodyMemory memory, BodyMemory.Share share, long body) {
    this.memory = memory;
    this.share = share;
    this.body = body;
  }

  /**
   * @param bytes of memory that a further part of the body takes
   * @throws LectusException {@code too_large} (413): the body will not fit, even alone;
   *     service_unavailable (503): others hold too much
   */
  public void add(long bytes) {
    missing = 0;
    parsed += bytes;
    if (parsed > mostBytes()) {
      throw LectusException.tooLarge(
          "too_large",
          "The documents take more memory than a request may have, "
              + mostBytes()
              + " bytes; send fewer at a time.");
    }
    long more = parsed / GROWTH - body - reserved;
    if (more > 0) {
      long step = more + STEP_BYTES;
      if (!share.tryGrow(step)) {
        missing = step + body + reserved;
        throw memory.refusal();
      }
      reserved += step;
    }
  }

  private long mostBytes() {
    return Math.max(MIN_BYTES, GROWTH * memory.limit());
  }

  /**
   * Returns how much there should be room for before the body is parsed again; 0 if the last
   * attempt did not lack any.
   */
  public long missing() {
    return missing;
  }

  /** Parses the body anew, with room for what was missing. */
  public void again() {
    reserved += missing;
    missing = 0;
    parsed = 0;
  }
}
