package lectus.store;

import com.apple.foundationdb.Database;
import com.apple.foundationdb.FDBException;
import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.OptionConsumer;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import com.apple.foundationdb.TransactionOptions;
import com.apple.foundationdb.async.AsyncIterable;
import com.apple.foundationdb.async.AsyncIterator;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import lectus.store.Store.StorePlace;

/**
 * A store that falls silent on request. It does not answer calls from matching threads until it is
 * thawed or the transaction's time-out has passed, like an unreachable cluster.
 */
public final class FrozenStore {
  private static final int TIMEOUT_OPTION = 500;
  private static final int TIMED_OUT = 1031;
  private static final Runnable ALREADY_OVER = () -> {};

  private final List<CompletableFuture<Void>> held = new ArrayList<>();
  private final Store store;
  private Optional<String> silentTo = Optional.empty();

  /**
   * @param isCluster whether calls have time-outs and commits may stay unanswered
   */
  public FrozenStore(Store inner, boolean isCluster) {
    Database database =
        proxy(
            Database.class,
            (self, method, arguments) -> {
              Object made = call(inner.database(), method, arguments);
              return method.getName().equals("createTransaction")
                  ? new Frozen((Transaction) made).transaction()
                  : made;
            });
    Optional<Executor> clearing = isCluster ? Optional.of(task -> {}) : Optional.empty();
    this.store =
        Store.in(
            new StorePlace(
                database,
                inner.directory().getPath(),
                TransactionLimits.DEFAULT,
                clearing,
                ALREADY_OVER));
  }

  public Store store() {
    return store;
  }

  /** Falls silent to all threads. */
  public void freeze() {
    freeze("");
  }

  /**
   * @param threads the prefix of the names of the threads that get no answer
   */
  public synchronized void freeze(String threads) {
    silentTo = Optional.of(threads);
  }

  /** Returns the number of unanswered calls. */
  public synchronized int held() {
    held.removeIf(CompletableFuture::isDone);
    return held.size();
  }

  /** Answers all calls, including later ones. */
  public void thaw() {
    takeHeld(true).forEach(gate -> gate.complete(null));
  }

  /** Lets the time-outs of all unanswered calls pass. */
  public void timeOut() {
    takeHeld(false).forEach(gate -> gate.completeExceptionally(timedOut()));
  }

  private synchronized List<CompletableFuture<Void>> takeHeld(boolean isOver) {
    if (isOver) {
      silentTo = Optional.empty();
    }
    List<CompletableFuture<Void>> taken = List.copyOf(held);
    held.clear();
    return taken;
  }

  private static FDBException timedOut() {
    return new FDBException("silent", TIMED_OUT);
  }

  private synchronized CompletableFuture<Void> gate(Optional<Long> timeoutMillis) {
    String thread = Thread.currentThread().getName();
    if (silentTo.filter(thread::startsWith).isEmpty()) {
      return CompletableFuture.completedFuture(null);
    }
    CompletableFuture<Void> gate = new CompletableFuture<>();
    held.add(gate);
    timeoutMillis.ifPresent(
        millis ->
            CompletableFuture.delayedExecutor(millis, TimeUnit.MILLISECONDS)
                .execute(() -> gate.completeExceptionally(timedOut())));
    return gate;
  }

  /** One transaction behind the gate. */
  private final class Frozen {
    private final Transaction inner;
    private volatile Optional<Long> timeoutMillis = Optional.empty();

    Frozen(Transaction inner) {
      this.inner = inner;
    }

    Transaction transaction() {
      return proxy(Transaction.class, handling(inner));
    }

    private InvocationHandler handling(ReadTransaction target) {
      return (self, method, arguments) ->
          switch (method.getName()) {
            case "snapshot" -> proxy(ReadTransaction.class, handling(inner.snapshot()));
            case "options" -> options();
            case "get", "getReadVersion", "commit" ->
                later(() -> this.<Object>future(target, method, arguments));
            case "onError" ->
                this.<Transaction>future(target, method, arguments)
                    .thenApply(same -> transaction());
            case "getRange" ->
                rows(FrozenStore.<AsyncIterable<KeyValue>>typed(target, method, arguments));
            default -> call(target, method, arguments);
          };
    }

    private TransactionOptions options() {
      OptionConsumer options = inner.options().getOptionConsumer();
      return new TransactionOptions(
          (code, value) -> {
            if (code == TIMEOUT_OPTION) {
              long millis = ByteBuffer.wrap(value).order(ByteOrder.LITTLE_ENDIAN).getLong();
              timeoutMillis = Optional.of(millis);
            }
            options.setOption(code, value);
          });
    }

    private <T> CompletableFuture<T> later(Supplier<CompletableFuture<T>> asked) {
      return gate(timeoutMillis).thenCompose(open -> asked.get());
    }

    private <T> CompletableFuture<T> future(
        ReadTransaction target, Method method, Object[] arguments) {
      return typed(target, method, arguments);
    }

    private AsyncIterable<KeyValue> rows(AsyncIterable<KeyValue> all) {
      return new AsyncIterable<>() {
        @Override
        public AsyncIterator<KeyValue> iterator() {
          return rowByRow(all.iterator());
        }

        @Override
        public CompletableFuture<List<KeyValue>> asList() {
          return later(all::asList);
        }
      };
    }

    private AsyncIterator<KeyValue> rowByRow(AsyncIterator<KeyValue> all) {
      return new AsyncIterator<>() {
        @Override
        public CompletableFuture<Boolean> onHasNext() {
          return later(all::onHasNext);
        }

        @Override
        public boolean hasNext() {
          return onHasNext().join();
        }

        @Override
        public KeyValue next() {
          return all.next();
        }

        @Override
        public void cancel() {
          all.cancel();
        }
      };
    }
  }

  private static Object call(Object target, Method method, Object[] arguments) throws Throwable {
    try {
      return method.invoke(target, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }

  @SuppressWarnings("unchecked")
  private static <T> T typed(Object target, Method method, Object[] arguments) {
    try {
      return (T) method.invoke(target, arguments);
    } catch (IllegalAccessException | InvocationTargetException e) {
      throw new IllegalStateException(e);
    }
  }

  private static <T> T proxy(Class<T> type, InvocationHandler handler) {
    return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
  }
}
