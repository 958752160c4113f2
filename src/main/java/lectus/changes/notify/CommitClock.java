package lectus.changes.notify;

import java.util.concurrent.TimeUnit;

/**
 * Says how long ago a version was committed. A store's versions advance by about a million a second
 * (docs/foundationdb-contract.md), so one whose time is known tells the time of those around it.
 * Thread-safe.
 */
final class CommitClock {
  private static final long NANOS_PER_VERSION = 1_000;

  /** Beyond, versions say nothing about time. */
  private static final long LONGEST_NANOS = TimeUnit.DAYS.toNanos(1);

  private volatile Known known = new Known(0, System.nanoTime());

  private record Known(long version, long nanos) {}

  /** Notes that a commit of this version has just been answered, or heard of. */
  void reached(long version) {
    if (version > known.version()) {
      known = new Known(version, System.nanoTime());
    }
  }

  /** Returns how many nanoseconds ago it was committed, at least 0. */
  long ageNanos(long version) {
    Known last = known;
    long sinceLast = System.nanoTime() - last.nanos();
    long versions = last.version() - version;
    long age =
        sinceLast + NANOS_PER_VERSION * Math.min(versions, LONGEST_NANOS / NANOS_PER_VERSION);
    return Math.max(0, Math.min(age, LONGEST_NANOS));
  }
}
