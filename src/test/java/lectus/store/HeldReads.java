package lectus.store;

import com.apple.foundationdb.Database;
import com.apple.foundationdb.Transaction;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.store.Store.StorePlace;

/** A store whose readers can be made to wait before they begin a transaction. */
public final class HeldReads {
  private static final String READERS = "lectus-reader";

  private final Store store;
  private volatile CompletableFuture<Void> gate = CompletableFuture.completedFuture(null);

  public HeldReads(Store inner) {
    Database held =
        (Database)
            Proxy.newProxyInstance(
                Database.class.getClassLoader(),
                new Class<?>[] {Database.class},
                (self, method, arguments) -> call(inner.database(), method, arguments));
    store =
        Store.in(
            new StorePlace(
                held,
                inner.directory().getPath(),
                TransactionLimits.DEFAULT,
                Optional.empty(),
                () -> {}));
  }

  public Store store() {
    return store;
  }

  /** Makes readers wait from now on. */
  public void hold() {
    gate = new CompletableFuture<>();
  }

  public void release() {
    gate.complete(null);
  }

  private Object call(Database inner, Method method, Object[] arguments) throws Throwable {
    boolean begins = Transaction.class.isAssignableFrom(method.getReturnType());
    if (begins && Thread.currentThread().getName().startsWith(READERS)) {
      gate.join();
    }
    try {
      return method.invoke(inner, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }
}
