package lectus.store.embedded.engine;

import java.util.function.LongSupplier;

/**
 * Hands out versions below a leased ceiling. A version is given out only once a ceiling above it is
 * durable, and a start begins above what earlier runs may have given out, whatever the clock says.
 *
 * <p>Versions are the microseconds since 1970. So what is written after a copy of the store was put
 * back, or in a new store, is above every version given out before, and no reader that comes with
 * such a version misses it. After a crash, or if the clock was set back, versions are ahead of the
 * clock; then they advance half as fast until it has caught up. Used by the committer only.
 */
public final class VersionLease {
  /** The number of versions in one lease: 60 s. */
  static final long LEASE_VERSIONS = 60_000_000;

  /**
   * An hour. A clock that is further behind is wrong rather than late, and versions do not wait for
   * it.
   */
  private static final long MAX_AHEAD = 3_600_000_000L;

  private final LongSupplier microClock;
  private long lastMicros;
  private long lastVersion;
  private long ceiling;

  /**
   * Continues above {@code durableCeiling}. Versions may be given out only after the first
   * extension.
   */
  public VersionLease(LongSupplier microClock, long durableCeiling) {
    this.microClock = microClock;
    this.lastMicros = microClock.getAsLong();
    this.lastVersion = durableCeiling;
    this.ceiling = durableCeiling;
  }

  /**
   * Returns the next version: the time, or above the previous one if that is ahead of the time. A
   * clock that was set back counts as standing still.
   */
  public long next() {
    long micros = microClock.getAsLong();
    long passed = micros - lastMicros;
    lastMicros = micros;
    long ahead = lastVersion - micros;
    lastVersion =
        ahead < 0 ? micros : lastVersion + Math.max(1, ahead < MAX_AHEAD ? passed / 2 : passed);
    return lastVersion;
  }

  /** Returns the last version that {@link #next} returned. */
  long last() {
    return lastVersion;
  }

  /** Returns whether {@code version} may be given out already. */
  boolean covers(long version) {
    return version < ceiling;
  }

  /** Returns whether it is time to make a new ceiling durable along with other writes. */
  boolean isShort() {
    return ceiling - lastVersion < LEASE_VERSIONS / 2;
  }

  /** Returns the ceiling to make durable next. */
  public long proposedCeiling() {
    return lastVersion + LEASE_VERSIONS;
  }

  public long durableCeiling() {
    return ceiling;
  }

  public void extendTo(long durableCeiling) {
    ceiling = durableCeiling;
  }
}
