package lectus.store;

import com.apple.foundationdb.async.AsyncIterable;
import com.apple.foundationdb.async.AsyncIterator;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * A store as if it were a cluster far away: each read and each commit is answered some time after
 * it was asked for. It counts round trips: the longest row of reads and commits of which each was
 * begun only after the one before it was answered. So what is asked for together counts once.
 */
public final class DistantStore {
  private final long delayNanos;
  private final Executor later;
  private final Store store;
  private final List<Trip> trips = new ArrayList<>();
  private Predicate<String> counted = thread -> true;

  private record Trip(long askedNanos, long answeredNanos) {}

  /**
   * @param delay of each key, range and commit
   */
  public DistantStore(Store inner, Duration delay) {
    this.delayNanos = delay.toNanos();
    ScheduledThreadPoolExecutor clock = daemon("distance");
    Executor callbacks = inner.database().getExecutor();
    this.later =
        answer -> clock.schedule(() -> callbacks.execute(answer), delayNanos, TimeUnit.NANOSECONDS);
    this.store =
        WrappedTransactions.of(
            inner,
            tx -> WrappedTransactions.hooked(tx, this::read),
            Optional.of(daemon("lectus-transaction-ids")));
  }

  private static ScheduledThreadPoolExecutor daemon(String name) {
    return new ScheduledThreadPoolExecutor(
        1,
        work -> {
          Thread thread = new Thread(work, name);
          thread.setDaemon(true);
          return thread;
        });
  }

  public Store store() {
    return store;
  }

  /**
   * Begins to count anew.
   *
   * @param threads by name, whose reads and commits count
   */
  public synchronized void count(Predicate<String> threads) {
    counted = threads;
    trips.clear();
  }

  /** Returns the round trips since then. */
  public synchronized int trips() {
    List<Trip> inOrder = new ArrayList<>(trips);
    inOrder.sort(Comparator.comparingLong(Trip::answeredNanos));
    int longest = 0;
    long last = Long.MIN_VALUE;
    for (Trip trip : inOrder) {
      if (longest == 0 || trip.askedNanos() - last >= 0) {
        longest++;
        last = trip.answeredNanos();
      }
    }
    return longest;
  }

  private Object read(Object inner, Method method, Object[] arguments) throws Throwable {
    Object answer = WrappedTransactions.call(inner, method, arguments);
    return switch (method.getName()) {
      case "get", "getKey", "commit" -> delayed(answer);
      case "getRange" ->
          WrappedTransactions.proxy(
              AsyncIterable.class, (itsMethod, none) -> range(answer, itsMethod, none));
      default -> answer;
    };
  }

  private Object range(Object range, Method method, Object[] arguments) throws Throwable {
    Object answer = WrappedTransactions.call(range, method, arguments);
    return switch (method.getName()) {
      case "asList" -> delayed(answer);
      case "iterator" -> new DistantRows<>((AsyncIterator<?>) answer, delayed(NOTHING));
      default -> answer;
    };
  }

  private static final CompletableFuture<Void> NOTHING = CompletableFuture.completedFuture(null);

  /** Rows of which the first come late; the others came with them. */
  private record DistantRows<T>(AsyncIterator<T> rows, CompletableFuture<?> arrived)
      implements AsyncIterator<T> {
    @Override
    public CompletableFuture<Boolean> onHasNext() {
      return arrived.thenCompose(done -> rows.onHasNext());
    }

    @Override
    public boolean hasNext() {
      arrived.join();
      return rows.hasNext();
    }

    @Override
    public T next() {
      arrived.join();
      return rows.next();
    }

    @Override
    public void cancel() {
      rows.cancel();
    }
  }

  private CompletableFuture<?> delayed(Object answer) {
    long asked = System.nanoTime();
    synchronized (this) {
      if (counted.test(Thread.currentThread().getName())) {
        trips.add(new Trip(asked, asked + delayNanos));
      }
    }
    return ((CompletableFuture<?>) answer).thenApplyAsync(Function.identity(), later);
  }
}
