package lectus.store.embedded.engine;

import java.util.function.LongSupplier;

/**
 * Versions, about 1 000 000 a second, under a leased ceiling: a version is given out only when a
 * ceiling above it is durable, so that a restart, which begins at the ceiling, never repeats one,
 * whatever the clock says then. Used by the committer alone.
 */
final class VersionLease {
  /** How many versions one lease covers: 60 s. */
  static final long LEASE_VERSIONS = 60_000_000;

  private final LongSupplier microClock;
  private long lastMicros;
  private long lastVersion;
  private long ceiling;

  /** Goes on above {@code durableCeiling}; nothing may be given out before the first extension. */
  VersionLease(LongSupplier microClock, long durableCeiling) {
    this.microClock = microClock;
    this.lastMicros = microClock.getAsLong();
    this.lastVersion = durableCeiling;
    this.ceiling = durableCeiling;
  }

  /**
   * The next version, above all earlier ones by the microseconds that passed and at least by one. A
   * clock that was set back counts as one that stood still.
   */
  long next() {
    long micros = microClock.getAsLong();
    long passed = micros - lastMicros;
    lastMicros = micros;
    lastVersion += Math.max(1, passed);
    return lastVersion;
  }

  /** Whether {@code version} may be given out already. */
  boolean covers(long version) {
    return version < ceiling;
  }

  /** Whether it is time to make a new ceiling durable along with other writes. */
  boolean isShort() {
    return ceiling - lastVersion < LEASE_VERSIONS / 2;
  }

  /** The ceiling to make durable next. */
  long proposedCeiling() {
    return lastVersion + LEASE_VERSIONS;
  }

  /** The ceiling that is durable. */
  long durableCeiling() {
    return ceiling;
  }

  /** Takes note of a ceiling that is durable now. */
  void extendTo(long durableCeiling) {
    ceiling = durableCeiling;
  }
}
