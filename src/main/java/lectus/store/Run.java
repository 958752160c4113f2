package lectus.store;

import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * One run of a {@link Work}, with its commit under way.
 *
 * @param commit fails if the run failed
 * @param versionstamp completes at about the time of the commit; any completed future if it is not
 *     needed
 * @param result waits for both, and throws the run's failure
 */
record Run<T>(
    CompletableFuture<?> commit, CompletableFuture<?> versionstamp, Supplier<? extends T> result) {
  private static final CompletableFuture<Void> NOTHING = CompletableFuture.completedFuture(null);

  /** Returns a run that commits nothing. */
  static <T> Run<T> of(T value) {
    return new Run<>(NOTHING, NOTHING, () -> value);
  }

  /** Returns a run whose versionstamp is not needed. */
  static <T> Run<T> committing(CompletableFuture<?> commit, T value) {
    return committing(commit, () -> value);
  }

  /**
   * @param value is asked for when the commit was stored
   */
  static <T> Run<T> committing(CompletableFuture<?> commit, Supplier<? extends T> value) {
    return new Run<>(
        commit,
        NOTHING,
        () -> {
          Awaiting.awaitAnswer(commit);
          return value.get();
        });
  }

  /** Returns a run that failed before its commit. */
  static <T> Run<T> failed(RuntimeException failure) {
    return new Run<>(
        CompletableFuture.failedFuture(failure),
        NOTHING,
        () -> {
          throw failure;
        });
  }

  /** Calls {@code then} on some thread as soon as {@code result} will not block. */
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

  /**
   * Waits for the versionstamp. If memory is too short to wait here, {@code result} waits instead.
   */
  private void whenStamped(Runnable then) {
    try {
      versionstamp.whenComplete((stamp, none) -> then.run());
    } catch (Error noMemory) {
      then.run();
    }
  }

  /** Returns whether there is anything to commit. */
  boolean sendsCommit() {
    return commit != NOTHING;
  }

  boolean isCommitted() {
    return commit.isDone() && !commit.isCompletedExceptionally() && versionstamp.isDone();
  }
}
