package lectus.http;

import com.github.benmanes.caffeine.cache.Cache;
import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import lectus.metrics.CacheMetrics;
import lectus.metrics.Meters;
import lectus.metrics.Meters.Measured;

/** How much each user asks of this server, over all event loops. Thread-safe. */
public final class UserUsage implements Measured {
  private static final int MAX_USERS = 100_000;
  private static final Duration FORGOTTEN_AFTER = Duration.ofSeconds(10);
  private static final long SECOND_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final LongSupplier nanoTime;
  private final CacheMetrics figures = new CacheMetrics("paces_of_users");
  private final Cache<String, Pace> paces =
      figures.cache().maximumSize(MAX_USERS).expireAfterAccess(FORGOTTEN_AFTER).build();
  private final ConcurrentMap<String, Integer> connections = new ConcurrentHashMap<>();
  private final ConcurrentMap<String, Integer> subscriptions = new ConcurrentHashMap<>();

  /**
   * @param nanoTime the time, as {@link System#nanoTime}
   */
  public UserUsage(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  @Override
  public void describe(Meters meters) {
    figures.describe(meters, paces::estimatedSize);
  }

  /**
   * Counts a request, unless the user has asked too often: so many at once, and then as many each
   * second.
   */
  public boolean mayAsk(String user, int perSecond) {
    long now = nanoTime.getAsLong();
    return paces.get(user, name -> new Pace(now)).mayAsk(now, SECOND_NANOS / perSecond);
  }

  /** Counts a connection, unless the user has so many. */
  public boolean connect(String user, int most) {
    return add(connections, user, most);
  }

  public void disconnect(String user) {
    subtract(connections, user);
  }

  /** Counts a subscription, unless the user has so many. */
  public boolean subscribe(String user, int most) {
    return add(subscriptions, user, most);
  }

  public void unsubscribe(String user) {
    subtract(subscriptions, user);
  }

  private static boolean add(ConcurrentMap<String, Integer> counts, String user, int most) {
    boolean[] isNew = {false};
    counts.compute(
        user,
        (name, before) -> {
          int count = before == null ? 0 : before;
          isNew[0] = count < most;
          return isNew[0] ? Integer.valueOf(count + 1) : before;
        });
    return isNew[0];
  }

  private static void subtract(ConcurrentMap<String, Integer> counts, String user) {
    counts.computeIfPresent(user, (name, count) -> count == 1 ? null : count - 1);
  }

  /** When a user may ask again at a steady pace; up to a second ahead of it is allowed. */
  private static final class Pace {
    private long nextNanos;

    Pace(long now) {
      nextNanos = now;
    }

    synchronized boolean mayAsk(long now, long intervalNanos) {
      long next = Math.max(nextNanos - now, 0) + intervalNanos;
      if (next > SECOND_NANOS) {
        return false;
      }
      nextNanos = now + next;
      return true;
    }
  }
}
