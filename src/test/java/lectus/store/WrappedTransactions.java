package lectus.store;

import com.apple.foundationdb.Database;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.UnaryOperator;
import lectus.store.Store.StorePlace;

/** A store whose transactions a test wraps, or whose reads and commits it sees. */
public final class WrappedTransactions {
  private WrappedTransactions() {}

  /** What is done in place of a method. */
  public interface Handler {
    Object call(Method method, Object[] arguments) throws Throwable;
  }

  /** What is done in place of a method of a transaction or of its snapshot. */
  public interface Hook {
    Object call(Object target, Method method, Object[] arguments) throws Throwable;
  }

  /**
   * @param wrapping is given each transaction, not those of a retry
   */
  public static Store of(Store inner, UnaryOperator<Transaction> wrapping) {
    return of(
        inner,
        wrapping,
        inner.mayAnswerUnknownResult() ? Optional.of(Runnable::run) : Optional.empty());
  }

  /**
   * @param clearing clears ids of transactions; empty for a store that always answers
   */
  static Store of(Store inner, UnaryOperator<Transaction> wrapping, Optional<Executor> clearing) {
    Database database =
        proxy(
            Database.class,
            (method, arguments) -> {
              Object result = call(inner.database(), method, arguments);
              return method.getName().equals("createTransaction")
                  ? wrapping.apply((Transaction) result)
                  : result;
            });
    return Store.in(
        new StorePlace(
            database, inner.directory().getPath(), TransactionLimits.DEFAULT, clearing, () -> {}));
  }

  /** Runs a test's code right before each range read of a snapshot, on the reader's thread. */
  public static Store beforeRanges(Store inner, Runnable interruption) {
    Hook hook =
        (target, method, arguments) -> {
          if (method.getName().equals("getRange")) {
            interruption.run();
          }
          return call(target, method, arguments);
        };
    return of(inner, tx -> hooked(tx, WrappedTransactions::call, hook));
  }

  /** Returns a transaction of which a hook sees everything, after retries, too. */
  static Transaction hooked(Transaction inner, Hook hook) {
    return hooked(inner, hook, hook);
  }

  private static Transaction hooked(Transaction inner, Hook hook, Hook ofSnapshots) {
    return proxy(
        Transaction.class,
        (method, arguments) ->
            switch (method.getName()) {
              case "snapshot" -> snapshot(inner.snapshot(), ofSnapshots);
              case "onError" ->
                  inner
                      .onError((Throwable) arguments[0])
                      .thenApply(next -> hooked(next, hook, ofSnapshots));
              default -> hook.call(inner, method, arguments);
            });
  }

  private static ReadTransaction snapshot(ReadTransaction inner, Hook hook) {
    return proxy(
        ReadTransaction.class,
        (method, arguments) ->
            method.getName().equals("snapshot")
                ? snapshot(inner, hook)
                : hook.call(inner, method, arguments));
  }

  /** Calls the method of another object. */
  public static Object call(Object target, Method method, Object[] arguments) throws Throwable {
    try {
      return method.invoke(target, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }

  public static <T> T proxy(Class<T> type, Handler handler) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (self, method, arguments) -> handler.call(method, arguments)));
  }
}
