package lectus.store.contract;

import static lectus.store.contract.ErrorCodes.CLIENT_INVALID_OPERATION;
import static lectus.store.contract.ErrorCodes.INVALID_OPTION;
import static lectus.store.contract.ErrorCodes.INVERTED_RANGE;
import static lectus.store.contract.ErrorCodes.KEY_OUTSIDE_LEGAL_RANGE;
import static lectus.store.contract.ErrorCodes.KEY_TOO_LARGE;
import static lectus.store.contract.ErrorCodes.NOT_COMMITTED;
import static lectus.store.contract.ErrorCodes.OK;
import static lectus.store.contract.ErrorCodes.RANGE_LIMITS_INVALID;
import static lectus.store.contract.ErrorCodes.TRANSACTION_CANCELLED;
import static lectus.store.contract.ErrorCodes.TRANSACTION_TIMED_OUT;
import static lectus.store.contract.ErrorCodes.TRANSACTION_TOO_OLD;
import static lectus.store.contract.ErrorCodes.USED_DURING_COMMIT;
import static lectus.store.contract.Outcomes.codeOf;
import static lectus.store.contract.Outcomes.valueOf;
import static lectus.store.contract.Scratch.EMPTY;
import static lectus.store.contract.Scratch.FF;
import static lectus.store.contract.Scratch.bytes;
import static lectus.store.contract.Scratch.value;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.apple.foundationdb.FDBException;
import com.apple.foundationdb.KeySelector;
import com.apple.foundationdb.MutationType;
import com.apple.foundationdb.Transaction;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;
import lectus.store.testing.TestStores;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * How errors surface, and what onError retries, keeps and loses (docs/foundationdb-contract.md,
 * sections 1 and 9).
 */
class ErrorsContractTest {
  private static final byte[] SYSTEM = bytes("\u00ff/lectus-contract");

  @RegisterExtension static final TestStores stores = new TestStores();

  @AutoClose private final Scratch scratch = new Scratch(stores.fresh());

  private final byte[] key = scratch.key("k");

  private final byte[] tooLargeKey = scratch.keyOfLength(10_001);

  private final byte[] k = scratch.key("k");

  @Test
  void mutators_fail_late_every_future_fails_with_the_first_error() {
    Transaction t = scratch.begin();
    t.set(tooLargeKey, EMPTY);
    t.set(key, value(100_001));
    t.set(key, EMPTY);
    assertThat(codeOf(t.get(key))).isEqualTo(KEY_TOO_LARGE);
    assertThat(codeOf(t.snapshot().get(key))).isEqualTo(KEY_TOO_LARGE);
    assertThat(codeOf(t.getKey(KeySelector.firstGreaterThan(key)))).isEqualTo(KEY_TOO_LARGE);
    assertThat(codeOf(t.getRange(scratch.all()).asList())).isEqualTo(KEY_TOO_LARGE);
    assertThat(codeOf(t.getReadVersion())).isEqualTo(KEY_TOO_LARGE);
    assertThat(codeOf(t.getApproximateSize())).isEqualTo(KEY_TOO_LARGE);
    assertThat(codeOf(t.getVersionstamp())).isEqualTo(KEY_TOO_LARGE);
    assertThat(codeOf(t.watch(key))).isEqualTo(KEY_TOO_LARGE);
    assertThat(codeOf(t.commit())).isEqualTo(KEY_TOO_LARGE);
    assertThat(scratch.stored(key)).isNull();
  }

  @Test
  void every_mutator_and_option_value_fails_late() {
    List<Consumer<Transaction>> calls =
        List.of(
            t -> t.set(tooLargeKey, EMPTY),
            t -> t.set(FF, EMPTY),
            t -> t.clear(FF),
            t -> t.clear(scratch.key("b"), scratch.key("a")),
            t -> t.mutate(MutationType.ADD, FF, EMPTY),
            t -> t.mutate(MutationType.ADD, tooLargeKey, EMPTY),
            t -> t.setReadVersion(0),
            t -> t.options().setSizeLimit(31),
            t -> t.options().setTimeout(-1),
            t -> t.options().setRetryLimit(-2),
            t -> t.addReadConflictRange(EMPTY, bytes("\u00ff\u0000")),
            t -> t.addWriteConflictRange(EMPTY, bytes("\u00ff\u0000")));
    for (Consumer<Transaction> call : calls) {
      Transaction t = scratch.begin();
      call.accept(t);
      int code = codeOf(t.getApproximateSize());
      assertThat(code).isNotEqualTo(OK);
      assertThat(codeOf(t.get(key))).isEqualTo(code);
      assertThat(codeOf(t.commit())).isEqualTo(code);
    }
  }

  @Test
  void conflict_ranges_beyond_the_key_space_fail_late() {
    Transaction t = scratch.begin();
    t.addReadConflictRange(EMPTY, bytes("\u00ff\u0000"));
    assertThat(codeOf(t.commit())).isEqualTo(KEY_OUTSIDE_LEGAL_RANGE);
  }

  @Test
  void cancel_on_error_and_committed_version_ignore_the_sticky_error() {
    Transaction t = scratch.begin();
    t.set(tooLargeKey, EMPTY);
    assertThat(t.getCommittedVersion()).isEqualTo(-1);
    Transaction again = scratch.closing(valueOf(t.onError(new FDBException("", NOT_COMMITTED))));
    again.set(key, EMPTY);
    assertThat(codeOf(again.commit())).isEqualTo(OK);

    Transaction cancelled = scratch.begin();
    cancelled.set(tooLargeKey, EMPTY);
    cancelled.cancel();
    assertThat(codeOf(cancelled.get(key))).isEqualTo(KEY_TOO_LARGE);
  }

  @Test
  void inverted_conflict_ranges_throw_at_once_even_after_a_sticky_error() {
    byte[] a = scratch.key("a");
    byte[] b = scratch.key("b");
    Transaction t = scratch.begin();
    assertThat(codeOf(() -> t.addReadConflictRange(b, a))).isEqualTo(INVERTED_RANGE);
    assertThat(codeOf(() -> t.addWriteConflictRange(b, a))).isEqualTo(INVERTED_RANGE);
    t.addReadConflictRange(a, a);
    t.addWriteConflictRange(a, a);
    assertThat(codeOf(t.commit())).isEqualTo(OK);

    Transaction failed = scratch.begin();
    failed.set(tooLargeKey, EMPTY);
    assertThat(codeOf(() -> failed.addReadConflictRange(b, a))).isEqualTo(INVERTED_RANGE);
    assertThat(codeOf(() -> failed.addWriteConflictRange(b, a))).isEqualTo(INVERTED_RANGE);
  }

  @Test
  void an_unknown_option_throws_at_once() {
    Transaction t = scratch.begin();
    assertThat(codeOf(() -> t.options().getOptionConsumer().setOption(9_999, null)))
        .isEqualTo(INVALID_OPTION);
    t.set(key, EMPTY);
    assertThat(codeOf(t.commit())).isEqualTo(OK);
  }

  @Test
  void null_arguments_throw_at_once() {
    Transaction t = scratch.begin();
    List<ThrowingCallable> calls =
        List.of(
            () -> t.set(null, EMPTY),
            () -> t.set(key, null),
            () -> t.clear((byte[]) null),
            () -> t.clear(null, key),
            () -> t.clear(key, null),
            () -> t.get(null),
            () -> t.snapshot().get(null),
            () -> t.mutate(MutationType.ADD, null, EMPTY),
            () -> t.mutate(MutationType.ADD, key, null),
            () -> t.addReadConflictRange(null, key),
            () -> t.addWriteConflictRange(key, null),
            () -> t.watch(null));
    for (ThrowingCallable call : calls) {
      assertThatThrownBy(call).isInstanceOf(IllegalArgumentException.class);
    }
    assertThat(codeOf(t.commit())).isEqualTo(OK);
  }

  @Test
  void a_closed_transaction_throws_illegal_state() {
    Transaction t = scratch.begin();
    t.close();
    t.close();
    List<ThrowingCallable> calls =
        List.of(
            () -> t.get(key),
            () -> t.snapshot().get(key),
            () -> t.getRange(scratch.all()).iterator(),
            () -> t.set(key, EMPTY),
            () -> t.clear(key),
            () -> t.mutate(MutationType.ADD, key, EMPTY),
            () -> t.getReadVersion(),
            () -> t.setReadVersion(1),
            () -> t.addReadConflictKey(key),
            () -> t.commit(),
            () -> t.getCommittedVersion(),
            () -> t.getVersionstamp(),
            () -> t.getApproximateSize(),
            () -> t.watch(key),
            () -> t.cancel(),
            () -> t.options().setTimeout(1_000));
    for (ThrowingCallable call : calls) {
      assertThatThrownBy(call).isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void argument_errors_of_reads_do_not_fail_the_commit() {
    Transaction t = scratch.begin();
    assertThat(codeOf(t.get(FF))).isEqualTo(KEY_OUTSIDE_LEGAL_RANGE);
    assertThat(codeOf(t.getRange(scratch.all(), -2).asList())).isEqualTo(RANGE_LIMITS_INVALID);
    t.set(key, EMPTY);
    assertThat(codeOf(t.commit())).isEqualTo(OK);
    assertThat(scratch.stored(key)).isEmpty();
  }

  @Test
  void a_read_failing_in_flight_fails_the_commit_too() {
    Transaction t = scratch.begin();
    t.setReadVersion(valueOf(scratch.begin().getReadVersion()) - 6_000_000);
    assertThat(codeOf(t.get(key))).isEqualTo(TRANSACTION_TOO_OLD);
    assertThat(codeOf(t.commit())).isEqualTo(TRANSACTION_TOO_OLD);
  }

  @Test
  void reads_check_the_sticky_error_then_use_then_cancellation_then_their_arguments() {
    byte[] beyond = bytes("\u00ff\u0000");
    Transaction t = scratch.begin();
    assertThat(codeOf(t.getRange(key, beyond, -2).asList())).isEqualTo(KEY_OUTSIDE_LEGAL_RANGE);

    Transaction cancelled = scratch.begin();
    cancelled.cancel();
    assertThat(codeOf(cancelled.get(FF))).isEqualTo(TRANSACTION_CANCELLED);
    assertThat(codeOf(cancelled.getRange(key, beyond, -2).asList()))
        .isEqualTo(TRANSACTION_CANCELLED);

    Transaction committed = scratch.begin();
    assertThat(codeOf(committed.commit())).isEqualTo(OK);
    assertThat(codeOf(committed.get(FF))).isEqualTo(USED_DURING_COMMIT);
  }

  @Test
  void join_wraps_the_exception() {
    CompletableFuture<byte[]> read = scratch.begin().get(FF);
    assertThatThrownBy(read::join)
        .isInstanceOf(CompletionException.class)
        .hasCauseInstanceOf(FDBException.class);
    assertThatThrownBy(read::get)
        .isInstanceOf(ExecutionException.class)
        .hasCauseInstanceOf(FDBException.class);
  }

  @Test
  void run_wraps_every_exception() {
    Throwable illegalKey = catchThrowable(() -> scratch.database().run(t -> t.get(FF).join()));
    assertThat(illegalKey).isInstanceOf(CompletionException.class);
    assertThat(codeOf(illegalKey)).isEqualTo(KEY_OUTSIDE_LEGAL_RANGE);

    RuntimeException mine = new IllegalStateException("mine");
    assertThatThrownBy(
            () ->
                scratch
                    .database()
                    .run(
                        t -> {
                          t.set(key, EMPTY);
                          throw mine;
                        }))
        .isInstanceOf(CompletionException.class)
        .hasCause(mine);
    assertThat(scratch.stored(key)).isNull();
    assertThatThrownBy(
            () ->
                scratch
                    .database()
                    .read(
                        t -> {
                          throw mine;
                        }))
        .isInstanceOf(CompletionException.class)
        .hasCause(mine);
  }

  @Test
  void run_and_run_async_retry_and_commit() {
    int[] runs = new int[2];
    scratch
        .database()
        .run(
            t -> {
              valueOf(t.get(key));
              if (runs[0]++ == 0) {
                scratch.set("k");
              }
              t.set(scratch.key("sync"), EMPTY);
              return null;
            });
    CompletableFuture<String> async =
        scratch
            .database()
            .runAsync(
                t -> {
                  valueOf(t.get(key));
                  if (runs[1]++ == 0) {
                    scratch.set("k");
                  }
                  t.set(scratch.key("async"), EMPTY);
                  return CompletableFuture.completedFuture("done");
                });
    assertThat(valueOf(async)).isEqualTo("done");
    assertThat(runs).containsExactly(2, 2);
    assertThat(scratch.stored(scratch.key("sync"))).isEmpty();
    assertThat(scratch.stored(scratch.key("async"))).isEmpty();
  }

  @Test
  void read_and_read_async_give_values() {
    scratch.set("k");
    byte[] read = scratch.database().read(t -> valueOf(t.get(key)));
    assertThat(read).isEqualTo(bytes("k"));
    CompletableFuture<byte[]> readAsync = scratch.database().readAsync(t -> t.get(key));
    assertThat(valueOf(readAsync)).isEqualTo(bytes("k"));
    CompletableFuture<byte[]> failed = scratch.database().readAsync(t -> t.get(FF));
    assertThat(codeOf(failed)).isEqualTo(KEY_OUTSIDE_LEGAL_RANGE);
    CompletableFuture<byte[]> failedRun = scratch.database().runAsync(t -> t.get(FF));
    assertThat(codeOf(failedRun)).isEqualTo(KEY_OUTSIDE_LEGAL_RANGE);
  }

  @Test
  void a_transaction_runs_a_body_on_itself_without_committing() {
    Transaction t = scratch.begin();
    t.run(
        same -> {
          assertThat(same).isSameAs(t);
          same.set(key, bytes("v"));
          return null;
        });
    byte[] read = t.read(same -> valueOf(same.get(key)));
    assertThat(read).isEqualTo(bytes("v"));
    CompletableFuture<byte[]> runAsync = t.runAsync(same -> same.get(key));
    assertThat(valueOf(runAsync)).isEqualTo(bytes("v"));
    CompletableFuture<byte[]> readAsync = t.readAsync(same -> same.get(key));
    assertThat(valueOf(readAsync)).isEqualTo(bytes("v"));
    assertThat(scratch.stored(key)).isNull();
    assertThat(t.getDatabase()).isSameAs(scratch.database());
  }

  @ParameterizedTest
  @ValueSource(ints = {1007, 1009, 1020, 1021, 1037, 1038, 1042, 1051, 1078, 1079, 1213, 1223})
  void on_error_gives_a_new_transaction_for_retryable_errors(int code) {
    Transaction t = scratch.started();
    t.options().setMaxRetryDelay(1);
    t.set(k, EMPTY);
    Transaction again = retried(t, code);
    assertThat(again).isNotSameAs(t);
    assertThat(valueOf(again.get(k))).isNull();
    again.set(scratch.key("l"), EMPTY);
    assertThat(codeOf(again.commit())).isEqualTo(OK);
    assertThat(scratch.stored(k)).isNull();
    assertThat(scratch.stored(scratch.key("l"))).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      ints = {1025, 1031, 1032, 1034, 1036, 1039, 2000, 2004, 2005, 2017, 2101, 2102, 2103})
  void on_error_fails_and_ends_the_transaction_for_other_errors(int code) {
    Transaction t = scratch.begin();
    assertThat(codeOf(t.onError(new FDBException("", code)))).isEqualTo(code);
    assertThatThrownBy(() -> t.get(k)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(t::commit).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void the_code_of_success_is_no_error_for_on_error() {
    assertThat(codeOf(scratch.begin().onError(new FDBException("", 0))))
        .isEqualTo(CLIENT_INVALID_OPERATION);
  }

  @Test
  void the_transaction_before_a_retry_is_closed() {
    Transaction t = scratch.begin();
    retried(t, NOT_COMMITTED);
    assertThatThrownBy(() -> t.get(k)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> t.set(k, EMPTY)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(t::commit).isInstanceOf(IllegalStateException.class);
    t.close();
  }

  @Test
  void other_exceptions_are_handed_back_and_the_transaction_lives_on() {
    Transaction t = scratch.begin();
    RuntimeException mine = new IllegalStateException("mine");
    CompletableFuture<Transaction> future = t.onError(mine);
    assertThatThrownBy(future::join).isInstanceOf(CompletionException.class).hasCause(mine);
    t.set(k, EMPTY);
    assertThat(codeOf(t.commit())).isEqualTo(OK);
  }

  @Test
  void wrapped_exceptions_are_unwrapped() {
    FDBException conflict = new FDBException("", NOT_COMMITTED);
    Transaction t = scratch.begin();
    Transaction second = scratch.closing(valueOf(t.onError(new CompletionException(conflict))));
    Transaction third = scratch.closing(valueOf(second.onError(new ExecutionException(conflict))));
    third.set(k, EMPTY);
    assertThat(codeOf(third.commit())).isEqualTo(OK);
  }

  @Test
  void on_error_is_the_way_to_use_a_transaction_again_after_a_commit() {
    Transaction t = scratch.begin();
    t.set(k, bytes("1"));
    assertThat(codeOf(t.commit())).isEqualTo(OK);
    long version = t.getCommittedVersion();
    Transaction again = retried(t, NOT_COMMITTED);
    assertThat(again.getCommittedVersion()).isEqualTo(version).isPositive();
    again.set(k, bytes("2"));
    assertThat(codeOf(again.commit())).isEqualTo(OK);
    assertThat(scratch.stored(k)).isEqualTo(bytes("2"));
  }

  @Test
  void a_transaction_tried_again_reads_anew() {
    scratch.set("k");
    Transaction t = scratch.started();
    valueOf(t.get(k));
    long version = valueOf(t.getReadVersion());
    scratch.committed(o -> o.set(k, bytes("new")));
    assertThat(scratch.outcome(t)).isEqualTo(NOT_COMMITTED);
    Transaction again = retried(t, NOT_COMMITTED);
    assertThat(scratch.get(again, "k")).isEqualTo("new");
    assertThat(valueOf(again.getReadVersion())).isGreaterThan(version);
    assertThat(scratch.outcome(again)).isEqualTo(OK);
  }

  @Test
  void the_retry_limit_counts_calls_of_on_error() {
    Transaction t = scratch.begin();
    t.options().setMaxRetryDelay(1);
    t.options().setRetryLimit(2);
    Transaction third = retried(retried(t, NOT_COMMITTED), NOT_COMMITTED);
    assertThat(codeOf(third.onError(new FDBException("", NOT_COMMITTED)))).isEqualTo(NOT_COMMITTED);
    Transaction never = scratch.begin();
    never.options().setRetryLimit(0);
    assertThat(codeOf(never.onError(new FDBException("", NOT_COMMITTED)))).isEqualTo(NOT_COMMITTED);
  }

  @Test
  void a_retry_limit_of_minus_one_is_none() {
    Transaction t = scratch.begin();
    t.options().setRetryLimit(0);
    t.options().setRetryLimit(-1);
    t.options().setMaxRetryDelay(1);
    for (int i = 0; i < 20; i++) {
      t = retried(t, NOT_COMMITTED);
    }
    t.set(k, EMPTY);
    assertThat(codeOf(t.commit())).isEqualTo(OK);
  }

  @Test
  void the_timeout_counts_from_the_first_try_across_all_retries() {
    Transaction t = scratch.begin();
    t.options().setTimeout(300);
    t.options().setMaxRetryDelay(10);
    int code = OK;
    for (int i = 0; code == OK && i < 100_000; i++) {
      CompletableFuture<Transaction> next = t.onError(new FDBException("", NOT_COMMITTED));
      code = codeOf(next);
      t = code == OK ? scratch.closing(valueOf(next)) : t;
    }
    assertThat(code).isEqualTo(TRANSACTION_TIMED_OUT);
  }

  @Test
  void a_timeout_fails_everything() {
    Transaction t = scratch.begin();
    t.set(k, EMPTY);
    CompletableFuture<byte[]> versionstamp = t.getVersionstamp();
    t.options().setTimeout(50);
    assertThat(codeOf(versionstamp)).isEqualTo(TRANSACTION_TIMED_OUT);
    assertThat(codeOf(t.get(k))).isEqualTo(TRANSACTION_TIMED_OUT);
    assertThat(codeOf(t.getReadVersion())).isEqualTo(TRANSACTION_TIMED_OUT);
    assertThat(codeOf(t.commit())).isEqualTo(TRANSACTION_TIMED_OUT);
    assertThat(codeOf(t.onError(new FDBException("", NOT_COMMITTED))))
        .isEqualTo(TRANSACTION_TIMED_OUT);
    assertThat(scratch.stored(k)).isNull();
  }

  @Test
  void a_timeout_of_zero_is_none() {
    Transaction t = scratch.begin();
    t.options().setTimeout(60_000);
    t.options().setTimeout(0);
    t.set(k, EMPTY);
    assertThat(codeOf(t.commit())).isEqualTo(OK);
  }

  @Test
  void a_retry_loses_the_options_of_access_and_size() {
    Transaction t = scratch.begin();
    t.options().setAccessSystemKeys();
    t.options().setSizeLimit(100);
    t.options().setSnapshotRywDisable();
    assertThat(codeOf(t.get(SYSTEM))).isEqualTo(OK);
    Transaction again = retried(t, NOT_COMMITTED);
    assertThat(codeOf(again.get(SYSTEM))).isEqualTo(KEY_OUTSIDE_LEGAL_RANGE);
    again.set(k, new byte[500]);
    assertThat(valueOf(again.snapshot().get(k))).hasSize(500);
    assertThat(codeOf(again.commit())).isEqualTo(OK);
  }

  @Test
  void read_your_writes_are_on_again_after_a_retry() {
    Transaction t = scratch.begin();
    t.options().setReadYourWritesDisable();
    t.set(k, EMPTY);
    assertThat(valueOf(t.get(k))).isNull();
    Transaction again = retried(t, NOT_COMMITTED);
    again.set(k, EMPTY);
    assertThat(valueOf(again.get(k))).isEmpty();
  }

  @Test
  void pending_versionstamps_fail_when_the_transaction_is_tried_again() {
    Transaction t = scratch.begin();
    CompletableFuture<byte[]> versionstamp = t.getVersionstamp();
    retried(t, NOT_COMMITTED);
    assertThat(codeOf(versionstamp)).isIn(TRANSACTION_CANCELLED, 1100);
  }

  private Transaction retried(Transaction t, int code) {
    return scratch.closing(valueOf(t.onError(new FDBException("", code))));
  }
}
