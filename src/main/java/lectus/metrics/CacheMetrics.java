package lectus.metrics;

import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.stats.ConcurrentStatsCounter;
import com.github.benmanes.caffeine.cache.stats.StatsCounter;
import java.util.function.LongSupplier;

/** How often a cache had what was looked for. Thread-safe. */
public final class CacheMetrics {
  private final String name;
  private final StatsCounter counter = new ConcurrentStatsCounter();

  /**
   * @param name of the cache, in lower case with underscores
   */
  public CacheMetrics(String name) {
    this.name = name;
  }

  /** Returns the beginning of a cache that counts; whoever uses it removes what has no room. */
  public Caffeine<Object, Object> cache() {
    Caffeine<Object, Object> cache = Caffeine.newBuilder().executor(Runnable::run);
    return Counting.IS_ON ? cache.recordStats(() -> counter) : cache;
  }

  public long hits() {
    return counter.snapshot().hitCount();
  }

  public long misses() {
    return counter.snapshot().missCount();
  }

  public long lookUps() {
    return counter.snapshot().requestCount();
  }

  /**
   * @param entries that it has now
   */
  public void describe(Meters meters, LongSupplier entries) {
    Meters own = meters.with("cache", name);
    own.level("lectus_cache_entries", "Entries.", entries::getAsLong);
    own.count("lectus_cache_hits", "Look-ups that found one.", this::hits);
    own.count("lectus_cache_misses", "Look-ups that found none.", this::misses);
    own.count(
        "lectus_cache_evictions",
        "Entries that made room for others, or grew too old.",
        () -> counter.snapshot().evictionCount());
  }
}
