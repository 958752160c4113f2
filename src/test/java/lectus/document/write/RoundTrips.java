package lectus.document.write;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import com.apple.foundationdb.async.AsyncIterable;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;

/**
 * A transaction as if behind a network: reads are answered only once the thread that uses it waits
 * for one of them, and then all at once. So what it counts are round trips, and the keys that were
 * read: those asked for one by one, there or not, and those that ranges brought.
 */
final class RoundTrips implements AutoCloseable {
  private static final byte SYSTEM = (byte) 0xff;

  private final Transaction inner;
  private final Thread user = Thread.currentThread();
  private final Queue<Runnable> asked = new ConcurrentLinkedQueue<>();
  private final Thread network = new Thread(this::answer, "network");
  private volatile boolean closed;
  private volatile int trips;
  private volatile int keys;

  RoundTrips(Transaction inner) {
    this.inner = inner;
    network.setDaemon(true);
    network.start();
  }

  /** Returns the same transaction, for the thread that created this object. */
  Transaction transaction() {
    return proxy(Transaction.class, (method, arguments) -> call(inner, method, arguments));
  }

  int trips() {
    return trips;
  }

  int keys() {
    return keys;
  }

  @Override
  public void close() {
    closed = true;
  }

  private void answer() {
    while (!closed) {
      if (asked.isEmpty() || user.getState() != Thread.State.WAITING) {
        Thread.onSpinWait();
        continue;
      }
      trips++;
      List<Runnable> together = new ArrayList<>();
      for (Runnable read = asked.poll(); read != null; read = asked.poll()) {
        together.add(read);
      }
      together.forEach(Runnable::run);
    }
  }

  private Object call(ReadTransaction target, Method method, Object[] arguments) {
    if (method.getName().equals("snapshot")) {
      ReadTransaction snapshot = inner.snapshot();
      return proxy(ReadTransaction.class, (its, values) -> call(snapshot, its, values));
    }
    // FoundationDB's metadata version comes with the read version.
    if (method.getName().equals("get") && ((byte[]) arguments[0])[0] != SYSTEM) {
      return later(
          () -> this.<CompletableFuture<byte[]>>call(method, target, arguments), value -> 1);
    }
    if (method.getName().equals("getRange")) {
      AsyncIterable<KeyValue> rows = call(method, target, arguments);
      return proxy(AsyncIterable.class, (itsMethod, none) -> onRows(itsMethod, rows));
    }
    return call(method, target, arguments);
  }

  private Object onRows(Method method, AsyncIterable<KeyValue> rows) {
    if (!method.getName().equals("asList")) {
      throw new UnsupportedOperationException(method.toString());
    }
    return later(rows::asList, List::size);
  }

  private <T> CompletableFuture<T> later(
      Supplier<CompletableFuture<T>> read, ToIntFunction<T> size) {
    CompletableFuture<T> answer = new CompletableFuture<>();
    asked.add(
        () -> {
          T value = read.get().join();
          keys += size.applyAsInt(value);
          answer.complete(value);
        });
    return answer;
  }

  private <T> T call(Method method, Object target, Object[] arguments) {
    try {
      @SuppressWarnings("unchecked")
      T result = (T) method.invoke(target, arguments);
      return result;
    } catch (IllegalAccessException | InvocationTargetException e) {
      throw new IllegalStateException(e);
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
