package lectus.account;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.time.Duration;
import java.util.Optional;
import java.util.function.LongSupplier;
import lectus.metrics.CacheMetrics;
import lectus.metrics.Meters;

/**
 * Slows down whoever tries out one name after the other. An address from which many names were
 * given with wrong passwords has one try at a time, and after each wrong one a pause, which grows
 * with each further name. Names that have logged in from there before are not concerned, nor are
 * passwords that are known to be right. Thread-safe.
 */
final class LoginThrottle {
  /** So many names are free: an office has many people, and some have forgotten their password. */
  static final int FREE_NAMES = 20;

  /** How long a name counts, from the first one on. */
  static final Duration COUNTED = Duration.ofMinutes(5);

  static final Duration SHORTEST_PAUSE = Duration.ofSeconds(1);
  static final Duration LONGEST_PAUSE = Duration.ofMinutes(1);

  private static final int MAX_DOUBLINGS = 6;
  private static final int MAX_ADDRESSES = 10_000;

  private final LongSupplier nanoTime;
  private final CacheMetrics figures = new CacheMetrics("guessers");
  private final Cache<String, Count> counts =
      figures
          .countedBy(Caffeine.newBuilder())
          .maximumSize(MAX_ADDRESSES)
          .executor(Runnable::run)
          .build();

  /**
   * @param names how many were given with a wrong password
   * @param until when the next try may begin
   */
  private record Count(int names, long since, long until) {}

  LoginThrottle(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  void describe(Meters meters) {
    figures.describe(meters, counts::estimatedSize);
  }

  /** Begins a try, unless it is too early; returns how much too early it is. */
  Optional<Duration> begin(String address) {
    long now = nanoTime.getAsLong();
    Duration[] early = {Duration.ZERO};
    counts
        .asMap()
        .computeIfPresent(
            address,
            (key, count) -> {
              if (isOver(count, now)) {
                return null;
              }
              early[0] = Duration.ofNanos(Math.max(0, count.until() - now));
              return early[0].isZero() ? paused(count, now) : count;
            });
    return Optional.of(early[0]).filter(it -> !it.isZero());
  }

  /** Notes that a try was of no guesser's: the next one may begin at once. */
  void forgive(String address) {
    long now = nanoTime.getAsLong();
    counts
        .asMap()
        .computeIfPresent(address, (key, count) -> new Count(count.names(), count.since(), now));
  }

  /** Counts a name that was given with a wrong password for the first time. */
  void add(String address) {
    long now = nanoTime.getAsLong();
    counts
        .asMap()
        .compute(
            address,
            (key, count) ->
                count == null || isOver(count, now)
                    ? new Count(1, now, now)
                    : paused(new Count(count.names() + 1, count.since(), count.until()), now));
  }

  private static boolean isOver(Count count, long now) {
    return now - count.since() > COUNTED.toNanos();
  }

  private static Count paused(Count count, long now) {
    int beyond = count.names() - FREE_NAMES;
    if (beyond < 0) {
      return count;
    }
    long pause = SHORTEST_PAUSE.toNanos() << Math.min(beyond, MAX_DOUBLINGS);
    long until = now + Math.min(pause, LONGEST_PAUSE.toNanos());
    return new Count(count.names(), count.since(), until);
  }
}
