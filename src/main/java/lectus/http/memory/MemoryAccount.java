package lectus.http.memory;

import java.util.concurrent.atomic.AtomicLong;
import lectus.error.LectusError;
import lectus.error.LectusException;

/**
 * Bounds what clients make the server hold for one purpose. Every holder counts what it takes,
 * before it takes it, and gives it back. An eighth is kept for those who hold little, so that those
 * who hold much lock nobody out. The only one who holds much is never refused, so that nothing is
 * too large for ever. Never waits; for any thread.
 */
public final class MemoryAccount {
  /** What one holder may have in all to count as small, in bytes. */
  public static final int SMALL_BYTES = 64 << 10;

  /** Shorter answers, and parts of them, are in what a connection takes by itself. */
  public static final int FREE_BYTES = 16 << 10;

  private static final int SMALL_PART = 8;
  private static final long LEAST_FOR_SMALL = 1 << 20;

  private final long limit;
  private final long limitOfSmall;
  private final String whenRefused;
  private final AtomicLong small = new AtomicLong();
  private final AtomicLong large = new AtomicLong();
  private final AtomicLong refusals = new AtomicLong();

  /**
   * @param limit in bytes, as the holders count them
   * @param whenRefused a sentence for those for whom there is not enough
   */
  public MemoryAccount(long limit, String whenRefused) {
    this.limit = limit;
    this.whenRefused = whenRefused;
    this.limitOfSmall = Math.max(LEAST_FOR_SMALL, limit / SMALL_PART);
  }

  public long limit() {
    return limit;
  }

  /** What all holders have, in bytes. */
  public long held() {
    return small.get() + large.get();
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
    long own = already + bytes;
    boolean fits = own <= SMALL_BYTES ? tryReserveSmall(bytes) : tryReserveLarge(bytes, already);
    if (!fits) {
      refusals.incrementAndGet();
    }
    return fits;
  }

  /** The error for a holder that is refused: service_unavailable (503). */
  public LectusException refusal() {
    return new LectusException(new LectusError.Unavailable(whenRefused));
  }

  /** How often somebody was refused until now. */
  public long refusals() {
    return refusals.get();
  }

  private boolean tryReserveSmall(long bytes) {
    long all = small.addAndGet(bytes);
    boolean fits = all <= limitOfSmall || all + large.get() <= limit;
    if (!fits) {
      small.addAndGet(-bytes);
    }
    return fits;
  }

  private boolean tryReserveLarge(long bytes, long already) {
    long wasSmall = already <= SMALL_BYTES ? already : 0;
    long all = large.addAndGet(bytes + wasSmall);
    boolean isAlone = all <= already + bytes;
    boolean fits = isAlone || all + small.get() - wasSmall <= limit;
    if (fits) {
      small.addAndGet(-wasSmall);
    } else {
      large.addAndGet(-bytes - wasSmall);
    }
    return fits;
  }

  /** As {@link #reserve}, of what is there already, and so cannot be refused. */
  public void take(long bytes, long already) {
    long own = already + bytes;
    if (own <= SMALL_BYTES) {
      small.addAndGet(bytes);
    } else {
      long wasSmall = already <= SMALL_BYTES ? already : 0;
      large.addAndGet(bytes + wasSmall);
      small.addAndGet(-wasSmall);
    }
  }

  /**
   * @param had what the same holder had until now, these bytes included
   */
  public void release(long bytes, long had) {
    long left = had - bytes;
    if (had <= SMALL_BYTES) {
      small.addAndGet(-bytes);
    } else if (left > SMALL_BYTES) {
      large.addAndGet(-bytes);
    } else {
      large.addAndGet(-had);
      small.addAndGet(left);
    }
  }
}
