package lectus.store;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.async.AsyncIterable;
import java.lang.reflect.Method;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;

/** A store that counts its reads: requested keys and ranges, and the rows that ranges returned. */
public final class CountedReads {
  private final AtomicLong reads = new AtomicLong();
  private final AtomicLong rows = new AtomicLong();
  private final Store store;

  public CountedReads(Store inner) {
    this.store = WrappedTransactions.of(inner, tx -> WrappedTransactions.hooked(tx, this::read));
  }

  public Store store() {
    return store;
  }

  /** Returns the number of keys and ranges requested so far. */
  public long reads() {
    return reads.get();
  }

  /** Returns the number of rows that the ranges returned. */
  public long rows() {
    return rows.get();
  }

  private Object read(Object inner, Method method, Object[] arguments) throws Throwable {
    Object answer = WrappedTransactions.call(inner, method, arguments);
    switch (method.getName()) {
      case "get" -> reads.incrementAndGet();
      case "getRange" -> {
        reads.incrementAndGet();
        return WrappedTransactions.proxy(
            AsyncIterable.class, (itsMethod, none) -> counted(answer, itsMethod, none));
      }
      default -> {}
    }
    return answer;
  }

  private Object counted(Object range, Method method, Object[] arguments) throws Throwable {
    Object answer = WrappedTransactions.call(range, method, arguments);
    if (!method.getName().equals("asList")) {
      return answer;
    }
    @SuppressWarnings("unchecked")
    CompletableFuture<List<KeyValue>> list = (CompletableFuture<List<KeyValue>>) answer;
    return list.whenComplete((some, failure) -> rows.addAndGet(some == null ? 0 : some.size()));
  }
}
