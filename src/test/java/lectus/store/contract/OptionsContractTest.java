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

/** Sections 5 and 9: options of a transaction. */
class OptionsContractTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private final Scratch scratch = new Scratch(stores.fresh());
  private final byte[] k = scratch.key("k");

  @AfterEach
  void close() {
    scratch.close();
  }

  @Test
  void readYourWritesDisableHidesOwnWrites() {
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
  void readYourWritesDisableStillConflicts() {
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
  void readYourWritesDisableComesFirstOrFailsLate() {
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
  void watchesNeedReadYourWrites() {
    Transaction t = scratch.begin();
    t.options().setReadYourWritesDisable();
    assertThat(codeOf(t.watch(k))).isEqualTo(WATCHES_DISABLED);
    assertThat(codeOf(t.commit())).isEqualTo(OK);
  }

  @Test
  void snapshotReadYourWritesCountUpAndDown() {
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
  void snapshotOptionsWorkThroughTheSnapshotToo() {
    Transaction t = scratch.begin();
    t.set(k, EMPTY);
    t.snapshot().options().setSnapshotRywDisable();
    assertThat(valueOf(t.snapshot().get(k))).isNull();
  }

  @Test
  void optionsThatAskForTreatmentAreAccepted() {
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
  void readLockAwareReads_butDoesNotWrite_unlessLockAwareToo() {
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
  void rawAccessTakesLongerKeys_butNoSystemKeys() {
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
  void illegalOptionValuesFailLate() {
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
