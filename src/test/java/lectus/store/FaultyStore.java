package lectus.store;

import com.apple.foundationdb.Database;
import com.apple.foundationdb.FDBException;
import com.apple.foundationdb.Transaction;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;

/**
 * A store whose commits fail as a test plans it: each commit takes the next fault, and when none is
 * left commits succeed. One thread uses it at a time.
 */
public final class FaultyStore {
  /** What becomes of a commit. */
  public enum Fault {
    /** It succeeds. */
    NONE(0, true),
    /** Another transaction came first. */
    NOT_COMMITTED(1020, false),
    /** It is stored, and the answer is lost. */
    UNKNOWN_BUT_STORED(1021, true),
    /** It is lost, and so is the answer. */
    UNKNOWN_AND_LOST(1021, false),
    /** Something that is no use to try again. */
    IO_ERROR(1510, false);

    private final int code;
    private final boolean stored;

    Fault(int code, boolean stored) {
      this.code = code;
      this.stored = stored;
    }
  }

  private final Queue<Fault> planned = new ArrayDeque<>();
  private final Store store;
  private Runnable beforeCommit = () -> {};
  private int commits;

  /** The same data as {@code inner}, seen through a network that breaks. */
  public FaultyStore(Store inner) {
    Database database =
        proxy(
            Database.class,
            (method, arguments) ->
                method.getName().equals("createTransaction")
                    ? faulty((Transaction) call(inner.database(), method, arguments))
                    : call(inner.database(), method, arguments));
    this.store =
        Store.in(
            database,
            inner.directory().getPath(),
            TransactionLimits.DEFAULT,
            inner.mayAnswerUnknownResult(),
            () -> {});
  }

  public Store store() {
    return store;
  }

  /** Plans what becomes of the next commits. */
  public void plan(Fault... faults) {
    planned.addAll(Arrays.asList(faults));
  }

  /**
   * Runs {@code interference} when the next transaction has read and written, right before it
   * commits.
   */
  public void beforeNextCommit(Runnable interference) {
    beforeCommit = interference;
  }

  /** Commits that were tried so far. */
  public int commits() {
    return commits;
  }

  private Transaction faulty(Transaction inner) {
    return proxy(
        Transaction.class,
        (method, arguments) ->
            switch (method.getName()) {
              case "commit" -> commit(inner);
              case "onError" -> inner.onError((Throwable) arguments[0]).thenApply(this::faulty);
              default -> call(inner, method, arguments);
            });
  }

  private CompletableFuture<Void> commit(Transaction inner) {
    commits++;
    Runnable interference = beforeCommit;
    beforeCommit = () -> {};
    interference.run();
    Fault fault = planned.isEmpty() ? Fault.NONE : planned.remove();
    CompletableFuture<Void> commit =
        fault.stored ? inner.commit() : CompletableFuture.completedFuture(null);
    return fault == Fault.NONE
        ? commit
        : commit.thenCompose(
            done -> CompletableFuture.failedFuture(new FDBException(fault.name(), fault.code)));
  }

  private static Object call(Object target, Method method, Object[] arguments) throws Throwable {
    try {
      return method.invoke(target, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }

  private interface Handler {
    Object call(Method method, Object[] arguments) throws Throwable;
  }

  private static <T> T proxy(Class<T> type, Handler handler) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (self, method, arguments) -> handler.call(method, arguments)));
  }
}
