package lectus.http;

import java.util.concurrent.atomic.AtomicLong;
import lectus.error.LectusError;
import lectus.error.LectusException;

/**
 * Bounds what the bodies of all running requests, and large answers that their clients have not
 * taken yet, hold in memory together. One body is always taken, however large, when no other is
 * held. For any thread.
 */
public final class BodyMemory {
  private static final int RETRY_AFTER_SECONDS = 1;

  private final long limit;
  private final AtomicLong held = new AtomicLong();

  /**
   * @param limit in bytes of JSON; parsed they take some times as much
   */
  public BodyMemory(long limit) {
    this.limit = limit;
  }

  long limit() {
    return limit;
  }

  /**
   * Counts what becomes of a body that is held already.
   *
   * @param body its bytes
   */
  public ParsedMemory parsing(long body) {
    return new ParsedMemory(this, body);
  }

  /**
   * @param already what the same body holds
   * @throws LectusException service_unavailable (503): others hold too much
   */
  public void reserve(long bytes, long already) {
    long all = held.addAndGet(bytes);
    if (all > limit && all > already + bytes) {
      held.addAndGet(-bytes);
      throw new LectusException(
          new LectusError.Unavailable("Too many large requests are running.", RETRY_AFTER_SECONDS));
    }
  }

  public void release(long bytes) {
    held.addAndGet(-bytes);
  }
}
