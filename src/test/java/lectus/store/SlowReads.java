package lectus.store;

import com.apple.foundationdb.Database;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import com.apple.foundationdb.async.AsyncIterable;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/** A store that delays the answer of each read, as a cluster far away does. */
public final class SlowReads {
  private final Executor later;

  private SlowReads(Duration delay) {
    ScheduledThreadPoolExecutor clock =
        new ScheduledThreadPoolExecutor(
            1,
            work -> {
              Thread thread = new Thread(work, "slow-reads");
              thread.setDaemon(true);
              return thread;
            });
    this.later = answer -> clock.schedule(answer, delay.toNanos(), TimeUnit.NANOSECONDS);
  }

  /**
   * @param delay the extra time of each key and range; reads of one transaction wait side by side
   */
  public static Store of(Store inner, Duration delay) {
    SlowReads reads = new SlowReads(delay);
    Database database =
        proxy(
            Database.class,
            (self, method, arguments) ->
                method.getName().equals("createTransaction")
                    ? reads.transaction((Transaction) call(inner.database(), method, arguments))
                    : call(inner.database(), method, arguments));
    return Store.in(
        new StorePlace(
            database,
            inner.directory().getPath(),
            TransactionLimits.DEFAULT,
            inner.mayAnswerUnknownResult() ? Optional.of(Runnable::run) : Optional.empty(),
            () -> {}));
  }

  private Transaction transaction(Transaction inner) {
    return proxy(
        Transaction.class,
        (self, method, arguments) ->
            method.getName().equals("snapshot")
                ? snapshot(inner.snapshot())
                : read(inner, method, arguments));
  }

  private ReadTransaction snapshot(ReadTransaction inner) {
    return proxy(
        ReadTransaction.class,
        (self, method, arguments) ->
            method.getName().equals("snapshot") ? self : read(inner, method, arguments));
  }

  private Object read(Object inner, Method method, Object[] arguments) throws Throwable {
    Object answer = call(inner, method, arguments);
    return switch (method.getName()) {
      case "get" -> delayed(answer);
      case "getRange" ->
          proxy(AsyncIterable.class, (self, itsMethod, none) -> range(answer, itsMethod, none));
      default -> answer;
    };
  }

  private Object range(Object range, Method method, Object[] arguments) throws Throwable {
    Object answer = call(range, method, arguments);
    return method.getName().equals("asList") ? delayed(answer) : answer;
  }

  private CompletableFuture<?> delayed(Object answer) {
    return ((CompletableFuture<?>) answer).thenApplyAsync(Function.identity(), later);
  }

  private static Object call(Object target, Method method, Object[] arguments) throws Throwable {
    try {
      return method.invoke(target, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }

  private static <T> T proxy(Class<T> type, InvocationHandler handler) {
    return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
  }
}
