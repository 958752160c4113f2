package lectus.store;

import com.apple.foundationdb.Database;
import com.apple.foundationdb.FDBException;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.Transaction;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import lectus.store.Store.StorePlace;

/**
 * A store whose commits fail as a test plans, and that drops the operations a test chooses. Each
 * commit takes the next planned fault; without one, commits succeed.
 */
public final class FaultyStore {
  /** The fate of a commit. */
  public enum Fault {
    /** It succeeds. */
    NONE(0, Moment.AT_ONCE),
    /** Another transaction committed first. */
    NOT_COMMITTED(1020, Moment.NEVER),
    /** The transaction took too long. */
    TOO_OLD(1007, Moment.NEVER),
    /** The read version was not reached in time. */
    FUTURE_VERSION(1009, Moment.NEVER),
    /** It is stored, but the answer is lost. */
    UNKNOWN_BUT_STORED(1021, Moment.AT_ONCE),
    /** The commit and its answer are lost. */
    UNKNOWN_AND_LOST(1021, Moment.NEVER),
    /** It is stored, but no answer comes in time. */
    TIMED_OUT_BUT_STORED(1031, Moment.AT_ONCE),
    /** The commit is lost, and no answer comes in time. */
    TIMED_OUT_AND_LOST(1031, Moment.NEVER),
    /** No answer comes in time, and the commit arrives right before the next one. */
    TIMED_OUT_THEN_STORED(1031, Moment.BEFORE_THE_NEXT),
    /** No answer comes in time, and the commit arrives right after the next one. */
    TIMED_OUT_THEN_OVERTAKEN(1031, Moment.AFTER_THE_NEXT),
    /** An error that is not worth a retry. */
    IO_ERROR(1510, Moment.NEVER);

    private final int code;
    private final Moment arrives;

    Fault(int code, Moment arrives) {
      this.code = code;
      this.arrives = arrives;
    }

    private boolean isLate() {
      return arrives == Moment.BEFORE_THE_NEXT || arrives == Moment.AFTER_THE_NEXT;
    }
  }

  private enum Moment {
    AT_ONCE,
    NEVER,
    BEFORE_THE_NEXT,
    AFTER_THE_NEXT
  }

  /**
   * A mutation or a conflict range of a transaction.
   *
   * @param method of {@link Transaction}
   * @param key the key, or the begin of the range
   */
  public record Operation(String method, byte[] key) {
    /** Returns whether the key lies in a subspace. */
    public boolean isBelow(byte[] prefix) {
      return key.length >= prefix.length
          && Arrays.equals(key, 0, prefix.length, prefix, 0, prefix.length);
    }
  }

  /** A commit that has not arrived yet. */
  private record Late(Moment arrives, Transaction transaction) {}

  private final Queue<Fault> planned = new ArrayDeque<>();
  private final Queue<Late> late = new ConcurrentLinkedQueue<>();
  private final Queue<Runnable> clearing = new ConcurrentLinkedQueue<>();
  private final Database database;
  private final Store store;
  private Supplier<Fault> further = () -> Fault.NONE;
  private Function<CompletableFuture<Void>, CompletableFuture<Void>> completion = done -> done;
  private Predicate<Operation> lost = operation -> false;
  private Runnable beforeCommit = () -> {};
  private long versionsGoneOn;
  private int commits;
  private boolean closed;

  /** Wraps {@code inner}'s data in a network that fails. */
  public FaultyStore(Store inner) {
    this(inner, inner.mayAnswerUnknownResult());
  }

  /**
   * @param mayAnswerUnknownResult what the store reports of itself
   */
  public FaultyStore(Store inner, boolean mayAnswerUnknownResult) {
    this.database =
        proxy(
            Database.class,
            (method, arguments) ->
                method.getName().equals("createTransaction")
                    ? faulty(whileOpen((Transaction) call(inner.database(), method, arguments)))
                    : call(inner.database(), method, arguments));
    Optional<Executor> clears =
        mayAnswerUnknownResult ? Optional.of(clearing::add) : Optional.empty();
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

  /** Plans the fate of the next commits. */
  public synchronized void plan(Fault... faults) {
    planned.addAll(Arrays.asList(faults));
  }

  /** Sets the fate of commits that have no plan. */
  public synchronized void keepFailing(Supplier<Fault> faults) {
    further = faults;
  }

  /**
   * Returns faults, in order, for commits on matching threads. All other commits succeed.
   *
   * @param threads the prefix of the threads' names
   */
  public static Supplier<Fault> onThreads(String threads, List<Fault> faults) {
    Queue<Fault> left = new ArrayDeque<>(faults);
    return () ->
        Thread.currentThread().getName().startsWith(threads) && !left.isEmpty()
            ? left.remove()
            : Fault.NONE;
  }

  /** Makes commits succeed from now on, except for late ones. */
  public synchronized void heal() {
    planned.clear();
    further = () -> Fault.NONE;
  }

  /** Begins no further transaction, as a store that is closed. */
  public synchronized void close() {
    closed = true;
  }

  private synchronized Transaction whileOpen(Transaction begun) {
    if (closed) {
      begun.close();
      throw new IllegalStateException("closed");
    }
    return begun;
  }

  /** Replaces the completion of each commit with the result of {@code change}. */
  public synchronized void completing(
      Function<CompletableFuture<Void>, CompletableFuture<Void>> change) {
    completion = change;
  }

  /** Drops these operations from transactions from now on, silently. */
  public synchronized void lose(Predicate<Operation> operations) {
    lost = operations;
  }

  /**
   * Runs {@code interference} after the next transaction's reads and writes, right before it
   * commits.
   */
  public synchronized void beforeNextCommit(Runnable interference) {
    beforeCommit = interference;
  }

  /** Raises all read versions requested from now on, as if time had passed. */
  public synchronized void goOnBy(long versions) {
    versionsGoneOn = versions;
  }

  /** Returns the number of commits attempted so far. */
  public synchronized int commits() {
    return commits;
  }

  /** Delivers late commits now. */
  public void deliver() {
    deliver(Moment.BEFORE_THE_NEXT);
    deliver(Moment.AFTER_THE_NEXT);
  }

  /** Clears the ids that wait for it. Returns true if there were any. */
  public boolean clearIds() {
    Runnable next = clearing.poll();
    if (next != null) {
      next.run();
    }
    return next != null;
  }

  private Transaction faulty(Transaction inner) {
    boolean[] isLate = new boolean[1];
    return proxy(
        Transaction.class,
        (method, arguments) ->
            switch (method.getName()) {
              case "commit" -> commit(inner, isLate);
              case "onError" ->
                  inner
                      .onError((Throwable) arguments[0])
                      .thenApply(this::whileOpen)
                      .thenApply(this::faulty);
              case "getReadVersion" -> inner.getReadVersion().thenApply(this::later);
              case "close" -> isLate[0] ? null : call(inner, method, arguments);
              case "set", "clear", "mutate", "addReadConflictKey", "addReadConflictRange" ->
                  isLost(method.getName(), arguments) ? null : call(inner, method, arguments);
              default -> call(inner, method, arguments);
            });
  }

  private synchronized long later(long version) {
    return version + versionsGoneOn;
  }

  private synchronized boolean isLost(String method, Object[] arguments) {
    for (Object argument : arguments) {
      if (argument instanceof byte[] key) {
        return lost.test(new Operation(method, key));
      }
      if (argument instanceof Range range) {
        return lost.test(new Operation(method, range.begin));
      }
    }
    return false;
  }

  private CompletableFuture<Void> commit(Transaction inner, boolean[] isLate) {
    interference().run();
    Fault fault = next();
    if (fault.isLate()) {
      isLate[0] = true;
      deliver();
      late.add(new Late(fault.arrives, inner));
      return failed(fault);
    }
    deliver(Moment.BEFORE_THE_NEXT);
    CompletableFuture<Void> commit =
        fault.arrives == Moment.AT_ONCE ? inner.commit() : CompletableFuture.completedFuture(null);
    if (!late.isEmpty()) {
      commit.exceptionally(failure -> null).join();
      deliver(Moment.AFTER_THE_NEXT);
    }
    return completion.apply(
        fault == Fault.NONE ? commit : commit.thenCompose(done -> failed(fault)));
  }

  private synchronized Runnable interference() {
    Runnable interference = beforeCommit;
    beforeCommit = () -> {};
    return interference;
  }

  private synchronized Fault next() {
    commits++;
    return planned.isEmpty() ? further.get() : planned.remove();
  }

  private void deliver(Moment moment) {
    late.stream().filter(it -> it.arrives == moment).toList().forEach(this::deliver);
  }

  private void deliver(Late commit) {
    if (late.remove(commit)) {
      commit.transaction.commit().exceptionally(lostToAnother -> null).join();
      commit.transaction.close();
    }
  }

  private static CompletableFuture<Void> failed(Fault fault) {
    return CompletableFuture.failedFuture(new FDBException(fault.name(), fault.code));
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
