package lectus.store.contract;

import static lectus.store.contract.ErrorCodes.CLIENT_INVALID_OPERATION;
import static lectus.store.contract.ErrorCodes.INVALID_OPTION_VALUE;
import static lectus.store.contract.ErrorCodes.KEY_OUTSIDE_LEGAL_RANGE;
import static lectus.store.contract.ErrorCodes.KEY_TOO_LARGE;
import static lectus.store.contract.ErrorCodes.NOT_COMMITTED;
import static lectus.store.contract.ErrorCodes.OK;
import static lectus.store.contract.ErrorCodes.TRANSACTION_READ_ONLY;
import static lectus.store.contract.ErrorCodes.WATCHES_DISABLED;
import static lectus.store.contract.Outcomes.codeOf;
import static lectus.store.contract.Outcomes.valueOf;
import static lectus.store.contract.Scratch.EMPTY;
import static lectus.store.contract.Scratch.bytes;
import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.Transaction;
import com.apple.foundationdb.TransactionOptions;
import java.util.List;
import java.util.function.Consumer;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Options of a transaction (docs/foundationdb-contract.md, sections 5 and 9). */
class OptionsContractTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private final Scratch scratch = new Scratch(stores.fresh());
  private final byte[] k = scratch.key("k");

  @AfterEach
  void close() {
    scratch.close();
  }

  @Test
  void read_your_writes_disable_hides_own_writes() {
    scratch.set("k");
    Transaction t = scratch.begin();
    t.options().setReadYourWritesDisable();
    t.set(k, bytes("own"));
    t.clear(scratch.key("x"));
    t.set(scratch.key("l"), EMPTY);
    assertThat(scratch.get(t, "k")).isEqualTo("k");
    assertThat(scratch.get(t.snapshot(), "k")).isEqualTo("k");
    assertThat(scratch.suffixes(valueOf(t.getRange(scratch.all()).asList()))).isEqualTo("k");
    assertThat(codeOf(t.commit())).isEqualTo(OK);
    assertThat(scratch.stored(k)).isEqualTo(bytes("own"));
  }

  @Test
  void read_your_writes_disable_still_conflicts() {
    Transaction t = scratch.started();
    Transaction disabled = scratch.begin();
    disabled.options().setReadYourWritesDisable();
    disabled.setReadVersion(valueOf(t.getReadVersion()));
    disabled.set(k, EMPTY);
    valueOf(disabled.get(k));
    scratch.set("k");
    assertThat(codeOf(disabled.commit())).isEqualTo(NOT_COMMITTED);
  }

  @Test
  void read_your_writes_disable_comes_first_or_fails_late() {
    Transaction afterWrite = scratch.begin();
    afterWrite.set(k, EMPTY);
    afterWrite.options().setReadYourWritesDisable();
    assertThat(codeOf(afterWrite.commit())).isEqualTo(CLIENT_INVALID_OPERATION);
    Transaction afterRead = scratch.begin();
    valueOf(afterRead.get(k));
    afterRead.options().setReadYourWritesDisable();
    assertThat(codeOf(afterRead.get(k))).isEqualTo(CLIENT_INVALID_OPERATION);
  }

  @Test
  void watches_need_read_your_writes() {
    Transaction t = scratch.begin();
    t.options().setReadYourWritesDisable();
    assertThat(codeOf(t.watch(k))).isEqualTo(WATCHES_DISABLED);
    assertThat(codeOf(t.commit())).isEqualTo(OK);
  }

  @Test
  void snapshot_read_your_writes_count_up_and_down() {
    Transaction t = scratch.begin();
    t.set(k, EMPTY);
    TransactionOptions options = t.options();
    assertThat(valueOf(t.snapshot().get(k))).isEmpty();
    options.setSnapshotRywDisable();
    assertThat(valueOf(t.snapshot().get(k))).isNull();
    assertThat(valueOf(t.snapshot().getRange(scratch.all()).asList())).isEmpty();
    assertThat(valueOf(t.get(k))).isEmpty();
    options.setSnapshotRywDisable();
    options.setSnapshotRywEnable();
    assertThat(valueOf(t.snapshot().get(k))).isNull();
    options.setSnapshotRywEnable();
    assertThat(valueOf(t.snapshot().get(k))).isEmpty();
    assertThat(valueOf(t.snapshot().getRange(scratch.all()).asList())).hasSize(1);
  }

  @Test
  void snapshot_options_work_through_the_snapshot_too() {
    Transaction t = scratch.begin();
    t.set(k, EMPTY);
    t.snapshot().options().setSnapshotRywDisable();
    assertThat(valueOf(t.snapshot().get(k))).isNull();
  }

  @Test
  void options_that_ask_for_treatment_are_accepted() {
    List<Consumer<TransactionOptions>> options =
        List.of(
            TransactionOptions::setPriorityBatch,
            TransactionOptions::setPrioritySystemImmediate,
            TransactionOptions::setCausalReadRisky,
            TransactionOptions::setLockAware,
            TransactionOptions::setReadPriorityLow,
            TransactionOptions::setReadServerSideCacheDisable,
            o -> o.setDebugTransactionIdentifier("id"),
            o -> o.setTransactionLoggingMaxFieldLength(100),
            o -> o.setMaxRetryDelay(5),
            o -> o.setTimeout(60_000),
            o -> o.setRetryLimit(3));
    for (Consumer<TransactionOptions> option : options) {
      Transaction t = scratch.begin();
      option.accept(t.options());
      valueOf(t.get(k));
      t.set(k, EMPTY);
      assertThat(codeOf(t.commit())).isEqualTo(OK);
    }
  }

  @Test
  void read_lock_aware_reads_but_does_not_write_unless_lock_aware_too() {
    Transaction t = scratch.begin();
    t.options().setReadLockAware();
    valueOf(t.get(k));
    t.set(k, EMPTY);
    assertThat(codeOf(t.commit())).isEqualTo(TRANSACTION_READ_ONLY);
    Transaction reading = scratch.begin();
    reading.options().setReadLockAware();
    valueOf(reading.get(k));
    assertThat(codeOf(reading.commit())).isEqualTo(OK);
    Transaction both = scratch.begin();
    both.options().setReadLockAware();
    both.options().setLockAware();
    both.set(k, EMPTY);
    assertThat(codeOf(both.commit())).isEqualTo(OK);
  }

  @Test
  void raw_access_takes_longer_keys_but_no_system_keys() {
    for (int length : new int[] {10_008, 10_009}) {
      Transaction t = scratch.begin();
      t.options().setRawAccess();
      t.set(scratch.keyOfLength(length), EMPTY);
      assertThat(codeOf(t.getApproximateSize())).isEqualTo(length == 10_008 ? OK : KEY_TOO_LARGE);
    }
    Transaction t = scratch.begin();
    t.options().setRawAccess();
    assertThat(codeOf(t.get(bytes("\u00ff/lectus-contract")))).isEqualTo(KEY_OUTSIDE_LEGAL_RANGE);
  }

  @Test
  void illegal_option_values_fail_late() {
    List<Consumer<TransactionOptions>> options =
        List.of(
            o -> o.setTimeout(-1),
            o -> o.setTimeout(Integer.MAX_VALUE + 1L),
            o -> o.setRetryLimit(-2),
            o -> o.setMaxRetryDelay(-1),
            o -> o.setSizeLimit(31),
            o -> o.setSizeLimit(10_000_001));
    for (Consumer<TransactionOptions> option : options) {
      Transaction t = scratch.begin();
      option.accept(t.options());
      assertThat(codeOf(t.get(k))).isEqualTo(INVALID_OPTION_VALUE);
      assertThat(codeOf(t.commit())).isEqualTo(INVALID_OPTION_VALUE);
    }
  }
}
