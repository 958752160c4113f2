package lectus.store;

import com.apple.foundationdb.Database;
import com.apple.foundationdb.FDBException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import lectus.store.Store.StorePlace;

/** A store that counts the transactions that matching threads begin, and can delay or fail them. */
public final class WatchedStore {
  private static final int IO_ERROR = 1510;
  private static final int NONE = 0;

  private final AtomicInteger begun = new AtomicInteger();
  private final Store store;
  private volatile int failure;
  private volatile int lastSound;
  private volatile CountDownLatch gate = new CountDownLatch(0);

  /**
   * @param threads the prefix of the names of the threads that are counted
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
                    int number = begun.incrementAndGet();
                    gate.await();
                    if (failure != NONE && number > lastSound) {
                      throw new FDBException("broken down", failure);
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
            new StorePlace(
                database,
                inner.directory().getPath(),
                TransactionLimits.DEFAULT,
                Optional.empty(),
                () -> {}));
  }

  public Store store() {
    return store;
  }

  /** Delays new transactions until {@link #release}. */
  public void hold() {
    gate = new CountDownLatch(1);
  }

  public void release() {
    gate.countDown();
  }

  /**
   * @param whether new transactions fail
   */
  public void breakDown(boolean whether) {
    breakDown(whether ? IO_ERROR : NONE, 0);
  }

  /**
   * Makes transactions fail.
   *
   * @param code FoundationDB's error code
   * @param sound how many may still begin before
   */
  public void breakDown(int code, int sound) {
    lastSound = begun.get() + sound;
    failure = code;
  }

  /** Returns the number of transactions begun so far. */
  public int begun() {
    return begun.get();
  }
}
