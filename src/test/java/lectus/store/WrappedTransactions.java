package lectus.store;

import com.apple.foundationdb.Database;
import com.apple.foundationdb.Transaction;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Optional;
import java.util.function.UnaryOperator;

/** A store whose transactions a test wraps. */
public final class WrappedTransactions {
  private WrappedTransactions() {}

  /** What is done in place of a method. */
  public interface Handler {
    Object call(Method method, Object[] arguments) throws Throwable;
  }

  /**
   * @param wrapping is given each transaction, not those of a retry
   */
  public static Store of(Store inner, UnaryOperator<Transaction> wrapping) {
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
            database,
            inner.directory().getPath(),
            TransactionLimits.DEFAULT,
            Optional.empty(),
            () -> {}));
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
