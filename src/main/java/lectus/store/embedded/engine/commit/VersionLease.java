package lectus.store.embedded.engine.commit;

import java.util.function.LongSupplier;

/**
 * Hands out versions, about 1 000 000 a second, below a leased ceiling. A version is given out only
 * once a ceiling above it is durable. A restart begins at the ceiling, so it never repeats a
 * version, whatever the clock says. Used by the committer only.
 */
public final class VersionLease {
  /** The number of versions in one lease: 60 s. */
  static final long LEASE_VERSIONS = 60_000_000;

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
   * Returns the next version: the previous one plus the microseconds that passed, at least one. A
   * clock that was set back counts as standing still.
   */
  public long next() {
    long micros = microClock.getAsLong();
    long passed = micros - lastMicros;
    lastMicros = micros;
    lastVersion += Math.max(1, passed);
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

  /** Returns the durable ceiling. */
  public long durableCeiling() {
    return ceiling;
  }

  /** Notes that a ceiling is now durable. */
  public void extendTo(long durableCeiling) {
    ceiling = durableCeiling;
  }
}
