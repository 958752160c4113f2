package lectus.account;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.time.Duration;
import java.util.Optional;
import java.util.function.LongSupplier;
import lectus.measure.CacheFigures;
import lectus.measure.Meters;

/**
 * Counts wrong passwords by name and address, and locks them out, with the defaults of CouchDB 3.5
 * ({@code [chttpd_auth_lockout]}). Another password of the account ends a lock-out. Thread-safe.
 */
final class WrongPasswords {
  /** After so many, nothing is compared any more. */
  static final int MOST_WRONG = 5;

  /** How long a wrong password counts, from the first one on. */
  static final Duration COUNTED = Duration.ofMinutes(5);

  private static final int MOST_COUNTS = 10_000;

  /** Names are cut off, so that a client cannot make the table large. */
  private static final int LONGEST_NAME = 64;

  private final LongSupplier nanoTime;
  private final CacheFigures figures = new CacheFigures("wrong_passwords");
  private final Cache<Attempt, Count> counts =
      figures
          .countedBy(Caffeine.newBuilder())
          .maximumSize(MOST_COUNTS)
          .executor(Runnable::run)
          .build();

  /**
   * @param salt of the account's password; empty if there is none
   */
  record Attempt(String name, String address, String salt) {
    Attempt {
      name =
          name.length() > LONGEST_NAME ? name.substring(0, LONGEST_NAME) + name.hashCode() : name;
    }
  }

  private record Count(int wrong, long since) {}

  WrongPasswords(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  void describe(Meters meters) {
    figures.describe(meters, counts::estimatedSize);
  }

  /** Returns for how long nobody may try; empty if one may. */
  Optional<Duration> lockedFor(Attempt attempt) {
    Count count = counts.getIfPresent(attempt);
    return count == null || count.wrong() < MOST_WRONG
        ? Optional.empty()
        : Optional.of(COUNTED.minusNanos(ageOf(count))).filter(left -> !left.isNegative());
  }

  /** Counts a wrong password; returns whether it is the first. */
  boolean add(Attempt attempt) {
    Count added =
        counts
            .asMap()
            .compute(
                attempt,
                (key, count) ->
                    count == null || isOver(count)
                        ? new Count(1, nanoTime.getAsLong())
                        : new Count(count.wrong() + 1, count.since()));
    return added.wrong() == 1;
  }

  void forget(Attempt attempt) {
    counts.invalidate(attempt);
  }

  private boolean isOver(Count count) {
    return ageOf(count) > COUNTED.toNanos();
  }

  private long ageOf(Count count) {
    return nanoTime.getAsLong() - count.since();
  }
}
