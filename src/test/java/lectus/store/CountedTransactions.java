package lectus.store;

import com.apple.foundationdb.Database;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

/** A store that counts its transactions. */
public final class CountedTransactions {
  private CountedTransactions() {}

  public static Store of(Store inner, AtomicInteger count) {
    Database counted =
        (Database)
            Proxy.newProxyInstance(
                Database.class.getClassLoader(),
                new Class<?>[] {Database.class},
                (self, method, arguments) -> {
                  if (method.getName().equals("createTransaction")) {
                    count.incrementAndGet();
                  }
                  try {
                    return method.invoke(inner.database(), arguments);
                  } catch (InvocationTargetException e) {
                    throw e.getCause();
                  }
                });
    return Store.in(
        new StorePlace(
            counted,
            inner.directory().getPath(),
            TransactionLimits.DEFAULT,
            inner.mayAnswerUnknownResult() ? Optional.of(Runnable::run) : Optional.empty(),
            () -> {}));
  }
}
