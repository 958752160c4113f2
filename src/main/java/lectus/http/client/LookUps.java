package lectus.http.client;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import lectus.error.LectusException;
import lectus.http.IpLiteral;

/**
 * Finds the addresses of other servers. Java's resolver keeps a thread while a name server does not
 * answer. So nobody waits long for it, whoever asks for the same name waits with the first one, and
 * the names of one domain have a part of the threads. Thread-safe.
 */
final class LookUps implements AutoCloseable {
  private static final int IDLE_SECONDS = 30;

  /** One domain has one thread of so many. */
  private static final int DOMAIN_PART = 4;

  private final Function<String, List<InetAddress>> resolver;
  private final AllowedHosts allowed;
  private final long patienceMillis;
  private final ThreadPoolExecutor threads;
  private final SharedThreads shared;
  private final Map<String, CompletableFuture<List<InetAddress>>> underWay = new HashMap<>();

  /**
   * @param resolver waits; throws {@link CompletionException}
   * @param mostThreads that wait for name servers at a time
   */
  LookUps(
      AllowedHosts allowed,
      Function<String, List<InetAddress>> resolver,
      int mostThreads,
      long patienceMillis) {
    this.allowed = allowed;
    this.resolver = resolver;
    this.patienceMillis = patienceMillis;
    this.threads =
        new ThreadPoolExecutor(
            mostThreads,
            mostThreads,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            LookUps::daemon);
    threads.allowCoreThreadTimeOut(true);
    this.shared = new SharedThreads(threads, Math.max(1, mostThreads / DOMAIN_PART));
  }

  private static Thread daemon(Runnable task) {
    Thread thread = new Thread(task, "lectus-look-up");
    thread.setDaemon(true);
    return thread;
  }

  /** Asks the name servers that this machine knows. */
  static List<InetAddress> ofSystem(String name) {
    try {
      return List.of(InetAddress.getAllByName(name));
    } catch (UnknownHostException unknown) {
      throw new CompletionException(unknown);
    }
  }

  /**
   * Returns the addresses of a host, all of which may be asked.
   *
   * @param host a name or an address, one of IPv6 in brackets or not
   * @return fails with {@link UnknownHostException}, or with {@link LectusException}, {@code
   *     forbidden}
   */
  CompletableFuture<List<InetAddress>> of(String host) {
    String bare = host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
    Optional<InetAddress> literal = IpLiteral.parse(bare);
    CompletableFuture<List<InetAddress>> found =
        literal
            .map(it -> CompletableFuture.completedFuture(List.of(it)))
            .orElseGet(() -> named(bare));
    return found.thenApply(
        addresses -> {
          allowed.check(bare, addresses);
          return addresses;
        });
  }

  private CompletableFuture<List<InetAddress>> named(String name) {
    CompletableFuture<List<InetAddress>> found;
    synchronized (this) {
      found = underWay.get(name);
      if (found == null) {
        found = CompletableFuture.supplyAsync(() -> resolver.apply(name), shared.of(domain(name)));
        underWay.put(name, found);
      }
    }
    found.whenComplete((addresses, failure) -> forget(name));
    return found
        .copy()
        .orTimeout(patienceMillis, TimeUnit.MILLISECONDS)
        .exceptionallyCompose(
            failure ->
                CompletableFuture.failedFuture(
                    failure instanceof TimeoutException
                        ? new UnknownHostException("No name server has answered for " + name)
                        : failure));
  }

  /** An answer is not kept here: Java's resolver keeps it for some seconds. */
  private synchronized void forget(String name) {
    underWay.computeIfPresent(name, (same, found) -> found.isDone() ? null : found);
  }

  /** Returns the last two labels. */
  private static String domain(String name) {
    int last = name.lastIndexOf('.', name.length() - 2);
    return name.substring(last < 0 ? 0 : name.lastIndexOf('.', last - 1) + 1);
  }

  @Override
  public void close() {
    threads.shutdownNow();
  }
}
