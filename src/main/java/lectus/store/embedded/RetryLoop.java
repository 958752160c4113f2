package lectus.store.embedded;

import com.apple.foundationdb.Database;
import com.apple.foundationdb.Transaction;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;

/** Runs a body in transactions until one commits or fails with an error that is not retryable. */
final class RetryLoop {
  private final Database database;

  RetryLoop(Database database) {
    this.database = database;
  }

  /**
   * @throws CompletionException wraps the failure of the body, the commit or onError
   */
  <T> T run(Function<? super Transaction, T> body, Executor executor) {
    Transaction transaction = database.createTransaction(executor);
    try {
      while (true) {
        try {
          T result = body.apply(transaction);
          transaction.commit().join();
          return result;
        } catch (RuntimeException error) {
          transaction = transaction.onError(error).join();
        }
      }
    } finally {
      transaction.close();
    }
  }

  <T> CompletableFuture<T> runAsync(
      Function<? super Transaction, ? extends CompletableFuture<T>> body, Executor executor) {
    AtomicReference<Transaction> current =
        new AtomicReference<>(database.createTransaction(executor));
    return attempt(body, current, executor).whenComplete((result, error) -> current.get().close());
  }

  private <T> CompletableFuture<T> attempt(
      Function<? super Transaction, ? extends CompletableFuture<T>> body,
      AtomicReference<Transaction> current,
      Executor executor) {
    Transaction transaction = current.get();
    return Futures.apply(body, transaction)
        .thenComposeAsync(result -> transaction.commit().thenApply(committed -> result), executor)
        .handleAsync(
            (result, error) ->
                error == null
                    ? CompletableFuture.completedFuture(result)
                    : retry(error, body, current, executor),
            executor)
        .thenCompose(Function.identity());
  }

  private <T> CompletableFuture<T> retry(
      Throwable error,
      Function<? super Transaction, ? extends CompletableFuture<T>> body,
      AtomicReference<Transaction> current,
      Executor executor) {
    if (!(error instanceof RuntimeException)) {
      return CompletableFuture.failedFuture(error);
    }
    return current
        .get()
        .onError(error)
        .thenCompose(
            next -> {
              current.set(next);
              return attempt(body, current, executor);
            });
  }
}
