package lectus.store.embedded;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** The futures of an attempt that may be incomplete, guarded by the attempt's monitor. */
final class PendingFutures {
  private List<CompletableFuture<?>> all = List.of();
  private List<CompletableFuture<?>> reads = List.of();

  void add(CompletableFuture<?> future) {
    if (all.isEmpty()) {
      all = new ArrayList<>(2);
    }
    all.add(future);
  }

  /** Adds a read that waits for its version. */
  void addRead(CompletableFuture<?> read) {
    add(read);
    if (reads.isEmpty()) {
      reads = new ArrayList<>(1);
    }
    reads.add(read);
  }

  /**
   * Returns a future that completes when no read waits any more, whatever their outcomes. Null if
   * none has waited.
   */
  CompletableFuture<Void> reads() {
    if (reads.isEmpty()) {
      return null;
    }
    return CompletableFuture.allOf(reads.toArray(CompletableFuture[]::new))
        .handle((done, error) -> null);
  }

  /** Hands over the futures, to be failed outside the monitor. */
  List<CompletableFuture<?>> take() {
    List<CompletableFuture<?>> taken = all;
    all = List.of();
    return taken;
  }

  static void fail(List<CompletableFuture<?>> futures, StoreError error) {
    for (CompletableFuture<?> future : futures) {
      // Most are done, and an exception with its stack trace costs more than the transaction did.
      if (!future.isDone()) {
        future.completeExceptionally(error.exception());
      }
    }
  }
}
