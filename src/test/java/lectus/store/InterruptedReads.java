package lectus.store;

import com.apple.foundationdb.Database;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Optional;
import java.util.concurrent.Executor;

/** A store that runs a test's code right before each range read. */
public final class InterruptedReads {
  private final Store store;
  private final Runnable interruption;

  /**
   * @param interruption runs before each range read, on the reader's thread; may use {@code inner}
   */
  public InterruptedReads(Store inner, Runnable interruption) {
    this.interruption = interruption;
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

  private Transaction transaction(Transaction inner) {
    return proxy(
        Transaction.class,
        (self, method, arguments) ->
            method.getName().equals("snapshot")
                ? snapshot(inner.snapshot())
                : call(inner, method, arguments));
  }

  private ReadTransaction snapshot(ReadTransaction inner) {
    return proxy(
        ReadTransaction.class,
        (self, method, arguments) -> {
          if (method.getName().equals("snapshot")) {
            return self;
          }
          if (method.getName().equals("getRange")) {
            interruption.run();
          }
          return call(inner, method, arguments);
        });
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
