package lectus.store;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import lectus.store.Store.StorePlace;
import lectus.store.embedded.EmbeddedDatabase;
import lectus.store.embedded.EmbeddedOptions;
import lectus.store.embedded.engine.CommitRequest.CommitReceipt;
import lectus.store.embedded.engine.RocksEngine;
import lectus.store.testing.FaultyEngine;

/** An embedded store that delays the answer of each commit, as a cluster does. */
public final class SlowStore {
  private SlowStore() {}

  /**
   * @param delay the extra time of each commit
   */
  public static Store open(Path data, Duration delay) {
    EmbeddedOptions options = EmbeddedOptions.defaults();
    ScheduledThreadPoolExecutor clock = new ScheduledThreadPoolExecutor(1);
    EmbeddedDatabase database =
        EmbeddedDatabase.on(
            new FaultyEngine(
                RocksEngine.open(data, options.engine()),
                (engine, request) -> delayed(engine.commit(request), clock, delay)),
            options);
    return Store.in(
        new StorePlace(
            database,
            List.of("lectus"),
            TransactionLimits.DEFAULT,
            Optional.empty(),
            () -> {
              database.close();
              clock.shutdown();
            }));
  }

  private static CompletableFuture<CommitReceipt> delayed(
      CompletableFuture<CommitReceipt> commit, ScheduledThreadPoolExecutor clock, Duration delay) {
    CompletableFuture<CommitReceipt> answer = new CompletableFuture<>();
    commit.whenComplete(
        (receipt, failure) ->
            clock.schedule(
                () ->
                    failure == null
                        ? answer.complete(receipt)
                        : answer.completeExceptionally(failure),
                delay.toNanos(),
                TimeUnit.NANOSECONDS));
    return answer;
  }
}
