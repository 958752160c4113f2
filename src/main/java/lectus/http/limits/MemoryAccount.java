package lectus.http.limits;

import java.util.concurrent.atomic.AtomicLong;
import lectus.error.LectusException;
import lectus.metrics.Meters;
import lectus.metrics.Meters.Measured;

/**
 * Limits the memory that clients make the server hold for one purpose. Every holder counts memory
 * before taking it, and releases it afterwards. An eighth of the limit is reserved for holders of
 * little, so that holders of much lock nobody out, and half as much again for holders of very
 * little. A sole large holder is never refused, so that nothing is too large for ever. Never waits;
 * thread-safe.
 */
public final class MemoryAccount implements Measured {
  /** The most bytes that a small holder has in all. */
  public static final int SMALL_BYTES = 64 << 10;

  /**
   * The most bytes that a tiny holder has: enough for most documents. Many small holders are no
   * reason to refuse these.
   */
  public static final int TINY_BYTES = 4 << 10;

  /** Shorter answers, and parts of them, are part of what a connection takes by itself. */
  public static final int FREE_BYTES = 16 << 10;

  private static final int SMALL_PART = 8;
  private static final long MIN_FOR_SMALL = 1 << 20;

  private final long limit;
  private final long keptForSmall;
  private final long keptForTiny;
  private final String whenRefused;
  private final AtomicLong tiny = new AtomicLong();
  private final AtomicLong small = new AtomicLong();
  private final AtomicLong large = new AtomicLong();
  private final AtomicLong refusals = new AtomicLong();

  /**
   * @param limit in bytes, as the holders count them
   * @param whenRefused the sentence for refused holders
   */
  public MemoryAccount(long limit, String whenRefused) {
    this.limit = limit;
    this.whenRefused = whenRefused;
    this.keptForSmall = keptForSmall(limit);
    this.keptForTiny = keptForSmall / 2;
  }

  /** Returns the bytes that are kept for small holders. */
  static long keptForSmall(long limit) {
    return Math.max(MIN_FOR_SMALL, limit / SMALL_PART);
  }

  public long limit() {
    return limit;
  }

  @Override
  public void describe(Meters meters) {
    meters.level("lectus_memory_bytes", "Bytes that clients hold.", this::held);
    meters.level("lectus_memory_limit_bytes", "The most that they may hold.", this::limit);
    meters.count("lectus_memory_refusals", "Times that there was no room.", refusals::get);
  }

  /** Returns the bytes of all holders. */
  public long held() {
    return tiny.get() + small.get() + large.get();
  }

  /**
   * @param already what the same holder has
   * @throws LectusException service_unavailable (503): others hold too much
   */
  public void reserve(long bytes, long already) {
    if (!tryReserve(bytes, already)) {
      throw refusal();
    }
  }

  /**
   * As {@link #reserve}.
   *
   * @return false, and nothing was reserved, if others hold too much
   */
  public boolean tryReserve(long bytes, long already) {
    boolean fits = tryMove(bytes, already);
    if (!fits) {
      refusals.incrementAndGet();
    }
    return fits;
  }

  /** Returns the error for a refused holder: service_unavailable (503). */
  public LectusException refusal() {
    return LectusException.unavailable(whenRefused);
  }

  public long refusals() {
    return refusals.get();
  }

  /** Counts more for a holder, by the size it then has; does nothing if it is refused. */
  private boolean tryMove(long bytes, long already) {
    long own = already + bytes;
    AtomicLong from = held(already);
    AtomicLong to = held(own);
    long moved = from == to ? 0 : already;
    long all = to.addAndGet(bytes + moved);
    boolean fits = all <= kept(own) || held() - moved <= limit;
    if (fits) {
      from.addAndGet(-moved);
    } else {
      to.addAndGet(-bytes - moved);
    }
    return fits;
  }

  private AtomicLong held(long own) {
    if (own <= TINY_BYTES) {
      return tiny;
    }
    return own <= SMALL_BYTES ? small : large;
  }

  /**
   * Returns the bytes that holders of this size may always have together; for large ones, one
   * holder alone.
   */
  private long kept(long own) {
    if (own <= TINY_BYTES) {
      return keptForTiny;
    }
    return own <= SMALL_BYTES ? keptForSmall : own;
  }

  /** As {@link #reserve}, for memory that is in use already and so cannot be refused. */
  public void take(long bytes, long already) {
    move(already, already + bytes);
  }

  /**
   * @param had what the same holder had until now, these bytes included
   */
  public void release(long bytes, long had) {
    move(had, had - bytes);
  }

  /**
   * Counts a holder in the class of its new size. In between it may count twice, and others be
   * refused for that, so a size that stays in its class changes in one step.
   */
  private void move(long had, long has) {
    AtomicLong from = held(had);
    AtomicLong to = held(has);
    if (from == to) {
      to.addAndGet(has - had);
    } else {
      to.addAndGet(has);
      from.addAndGet(-had);
    }
  }
}
