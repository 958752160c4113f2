package lectus.store;

import com.apple.foundationdb.Database;
import com.apple.foundationdb.FDBException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A store that counts the transactions which threads of some name begin, and can hold them up or
 * let them fail.
 */
public final class WatchedStore {
  private static final int IO_ERROR = 1510;

  private final AtomicInteger begun = new AtomicInteger();
  private final Store store;
  private volatile boolean broken;
  private volatile CountDownLatch gate = new CountDownLatch(0);

  /**
   * @param threads what the names of the threads begin with that are counted
   */
  public WatchedStore(Store inner, String threads) {
    Database database =
        (Database)
            Proxy.newProxyInstance(
                Database.class.getClassLoader(),
                new Class<?>[] {Database.class},
                (self, method, arguments) -> {
                  boolean counts = Thread.currentThread().getName().startsWith(threads);
                  if (counts && method.getName().equals("createTransaction")) {
                    begun.incrementAndGet();
                    gate.await();
                    if (broken) {
                      throw new FDBException("io_error", IO_ERROR);
                    }
                  }
                  try {
                    return method.invoke(inner.database(), arguments);
                  } catch (InvocationTargetException e) {
                    throw e.getCause();
                  }
                });
    this.store =
        Store.in(
            database,
            inner.directory().getPath(),
            TransactionLimits.DEFAULT,
            Optional.empty(),
            () -> {});
  }

  public Store store() {
    return store;
  }

  /** Holds up what begins from now on, until {@link #release}. */
  public void hold() {
    gate = new CountDownLatch(1);
  }

  public void release() {
    gate.countDown();
  }

  /**
   * @param whether what begins from now on fails
   */
  public void breakDown(boolean whether) {
    broken = whether;
  }

  /** Transactions that were begun so far. */
  public int begun() {
    return begun.get();
  }
}
