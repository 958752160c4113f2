package lectus.store;

import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * One run of a {@link Work}, its commit on the way.
 *
 * @param commit fails if the run did
 * @param versionstamp comes at about the time of the commit; any finished future if nobody needs it
 * @param result waits for both, and throws what the run failed with
 */
record Run<T>(
    CompletableFuture<?> commit, CompletableFuture<?> versionstamp, Supplier<? extends T> result) {
  private static final CompletableFuture<Void> NOTHING = CompletableFuture.completedFuture(null);

  /** A run that commits nothing. */
  static <T> Run<T> of(T value) {
    return new Run<>(NOTHING, NOTHING, () -> value);
  }

  /** A run whose versionstamp nobody needs. */
  static <T> Run<T> committing(CompletableFuture<?> commit, T value) {
    return new Run<>(
        commit,
        NOTHING,
        () -> {
          Reads.await(commit);
          return value;
        });
  }

  /** A run that failed before its commit. */
  static <T> Run<T> failed(RuntimeException failure) {
    return new Run<>(
        CompletableFuture.failedFuture(failure),
        NOTHING,
        () -> {
          throw failure;
        });
  }

  /** Calls {@code then} on some thread as soon as the result waits for nothing. */
  void whenAnswered(Runnable then) {
    commit.whenComplete(
        (done, failure) -> {
          if (failure != null || versionstamp.isDone()) {
            then.run();
          } else {
            whenStamped(then);
          }
        });
  }

  /** Without memory to wait for the versionstamp, {@code result} does. */
  private void whenStamped(Runnable then) {
    try {
      versionstamp.whenComplete((stamp, none) -> then.run());
    } catch (Error noMemory) {
      then.run();
    }
  }

  boolean isCommitted() {
    return commit.isDone() && !commit.isCompletedExceptionally() && versionstamp.isDone();
  }
}
