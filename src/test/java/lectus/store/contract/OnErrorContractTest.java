package lectus.store.contract;

import static lectus.store.contract.ErrorCodes.CLIENT_INVALID_OPERATION;
import static lectus.store.contract.ErrorCodes.KEY_OUTSIDE_LEGAL_RANGE;
import static lectus.store.contract.ErrorCodes.NOT_COMMITTED;
import static lectus.store.contract.ErrorCodes.OK;
import static lectus.store.contract.ErrorCodes.TRANSACTION_CANCELLED;
import static lectus.store.contract.ErrorCodes.TRANSACTION_TIMED_OUT;
import static lectus.store.contract.Outcomes.codeOf;
import static lectus.store.contract.Outcomes.valueOf;
import static lectus.store.contract.Scratch.EMPTY;
import static lectus.store.contract.Scratch.bytes;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.apple.foundationdb.FDBException;
import com.apple.foundationdb.Transaction;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What onError retries, keeps and loses (docs/foundationdb-contract.md, section 9). */
class OnErrorContractTest {
  private static final byte[] SYSTEM = bytes("\u00ff/lectus-contract");

  @RegisterExtension static final TestStores stores = new TestStores();

  private final Scratch scratch = new Scratch(stores.fresh());
  private final byte[] k = scratch.key("k");

  @AfterEach
  void close() {
    scratch.close();
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
