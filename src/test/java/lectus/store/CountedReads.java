package lectus.store;

import com.apple.foundationdb.Database;
import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import com.apple.foundationdb.async.AsyncIterable;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;

/** A store that counts its reads: requested keys and ranges, and the rows that ranges returned. */
public final class CountedReads {
  private final AtomicLong reads = new AtomicLong();
  private final AtomicLong rows = new AtomicLong();
  private final Store store;

  public CountedReads(Store inner) {
    Database database =
        proxy(
            Database.class,
            (self, method, arguments) ->
                method.getName().equals("createTransaction")
                    ? transaction((Transaction) call(inner.database(), method, arguments))
                    : call(inner.database(), method, arguments));
    Optional<Executor> clears =
        inner.mayAnswerUnknownResult() ? Optional.of(Runnable::run) : Optional.empty();
    this.store =
        Store.in(
            new StorePlace(
                database,
                inner.directory().getPath(),
                TransactionLimits.DEFAULT,
                clears,
                () -> {}));
  }

  public Store store() {
    return store;
  }

  /** Returns the number of keys and ranges requested so far. */
  public long reads() {
    return reads.get();
  }

  /** Returns the number of rows that the ranges returned. */
  public long rows() {
    return rows.get();
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
    switch (method.getName()) {
      case "get" -> reads.incrementAndGet();
      case "getRange" -> {
        reads.incrementAndGet();
        return proxy(
            AsyncIterable.class, (self, itsMethod, none) -> counted(answer, itsMethod, none));
      }
      default -> {}
    }
    return answer;
  }

  private Object counted(Object range, Method method, Object[] arguments) throws Throwable {
    Object answer = call(range, method, arguments);
    if (!method.getName().equals("asList")) {
      return answer;
    }
    @SuppressWarnings("unchecked")
    CompletableFuture<List<KeyValue>> list = (CompletableFuture<List<KeyValue>>) answer;
    return list.whenComplete((some, failure) -> rows.addAndGet(some == null ? 0 : some.size()));
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
