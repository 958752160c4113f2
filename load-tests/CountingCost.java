import com.github.benmanes.caffeine.cache.Cache;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.List;
import lectus.http.exchange.RequestMetrics;
import lectus.http.exchange.RouteTemplate;
import lectus.metrics.CacheMetrics;

/**
 * Counts what the server counts for the GET of a document, and looks at the clock as often, on two
 * threads at once. Prints the processor time of one such GET in nanoseconds, the best of several
 * rounds. Run with {@code java -cp target/lectus.jar load-tests/CountingCost.java}, and with {@code
 * -Dlectus.uncounted=true} for what is left without counting.
 */
public final class CountingCost {
  private static final int ROUNDS = 15;
  private static final int REQUESTS = 1_000_000;

  private final RequestMetrics figures = new RequestMetrics();
  private final Cache<String, String> databases = cache("databases");
  private final Cache<String, String> documents = cache("documents");
  private final List<String> path = List.of("db", "doc");
  private long found;

  private static Cache<String, String> cache(String name) {
    Cache<String, String> cache =
        new CacheMetrics(name).cache().maximumSize(10).build();
    cache.put("key", "value");
    return cache;
  }

  public static void main(String[] args) throws InterruptedException {
    CountingCost cost = new CountingCost();
    Thread other = new Thread(cost::best);
    other.start();
    System.out.printf("%.0f ns%n", cost.best());
    other.join();
  }

  private double best() {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    double best = Double.POSITIVE_INFINITY;
    for (int round = 0; round < ROUNDS; round++) {
      long before = threads.getCurrentThreadCpuTime();
      for (int i = 0; i < REQUESTS; i++) {
        get();
      }
      long nanos = threads.getCurrentThreadCpuTime() - before;
      best = Math.min(best, (double) nanos / REQUESTS);
    }
    return best;
  }

  private void get() {
    long begun = System.nanoTime();
    figures.begun();
    found += databases.getIfPresent("key").length() + documents.getIfPresent("key").length();
    RouteTemplate route = RouteTemplate.of(path);
    figures.answered(route, "GET", 200, 100);
    figures.took(route, System.nanoTime() - begun);
  }
}
