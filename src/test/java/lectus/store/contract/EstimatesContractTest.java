package lectus.store.contract;

import static lectus.store.contract.ErrorCodes.INVERTED_RANGE;
import static lectus.store.contract.ErrorCodes.KEY_OUTSIDE_LEGAL_RANGE;
import static lectus.store.contract.ErrorCodes.OK;
import static lectus.store.contract.ErrorCodes.TRANSACTION_CANCELLED;
import static lectus.store.contract.Outcomes.codeOf;
import static lectus.store.contract.Outcomes.valueOf;
import static lectus.store.contract.Scratch.bytes;
import static lectus.store.contract.Scratch.value;
import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.Transaction;
import java.util.Arrays;
import java.util.List;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Estimated sizes and split points (docs/foundationdb-contract.md, section 12). */
class EstimatesContractTest {
  private static final byte[] BEYOND = bytes("\u00ff\u0000");

  @RegisterExtension static final TestStores stores = new TestStores();

  private final Scratch scratch = new Scratch(stores.fresh());

  @AfterEach
  void close() {
    scratch.close();
  }

  @Test
  void an_estimate_is_never_negative_and_answers_for_every_range() {
    Transaction t = scratch.begin();
    assertThat(valueOf(t.getEstimatedRangeSizeBytes(scratch.all()))).isNotNegative();
    assertThat(valueOf(t.snapshot().getEstimatedRangeSizeBytes(scratch.all()))).isNotNegative();
    assertThat(valueOf(t.getEstimatedRangeSizeBytes(scratch.key("a"), scratch.key("b"))))
        .isNotNegative();
  }

  @Test
  void estimates_of_inverted_ranges_fail() {
    Transaction t = scratch.begin();
    byte[] a = scratch.key("a");
    byte[] b = scratch.key("b");
    assertThat(codeOf(t.getEstimatedRangeSizeBytes(b, a))).isEqualTo(INVERTED_RANGE);
    assertThat(codeOf(t.getRangeSplitPoints(b, a, 1_000))).isEqualTo(INVERTED_RANGE);
    assertThat(codeOf(t.commit())).isEqualTo(OK);
  }

  @Test
  void split_points_begin_and_end_with_the_range() {
    scratch.committed(
        t -> {
          for (int i = 0; i < 100; i++) {
            t.set(scratch.key("k%03d".formatted(i)), value(10_000));
          }
        });
    Transaction t = scratch.begin();
    List<byte[]> points =
        valueOf(t.getRangeSplitPoints(scratch.all().begin, scratch.all().end, 50_000)).getKeys();
    assertThat(points.get(0)).isEqualTo(scratch.all().begin);
    assertThat(points.get(points.size() - 1)).isEqualTo(scratch.all().end);
    assertThat(points).isSortedAccordingTo(Arrays::compareUnsigned);
    assertThat(valueOf(t.snapshot().getRangeSplitPoints(scratch.all(), 50_000)).getKeys())
        .isNotEmpty();
  }

  @Test
  void split_points_beyond_the_key_ff_are_refused() {
    Transaction t = scratch.begin();
    assertThat(codeOf(t.getRangeSplitPoints(scratch.prefix(), BEYOND, 1_000)))
        .isEqualTo(KEY_OUTSIDE_LEGAL_RANGE);
  }

  @Test
  void estimates_and_split_points_conflict_with_nothing() {
    Transaction t = scratch.started();
    valueOf(t.getEstimatedRangeSizeBytes(scratch.all()));
    valueOf(t.getRangeSplitPoints(scratch.all(), 1_000));
    scratch.set("a");
    assertThat(scratch.outcome(t)).isEqualTo(OK);
  }

  @Test
  void estimates_and_split_points_fail_on_an_ended_transaction() {
    Transaction cancelled = scratch.begin();
    cancelled.cancel();
    assertThat(codeOf(cancelled.getEstimatedRangeSizeBytes(scratch.all())))
        .isEqualTo(TRANSACTION_CANCELLED);
    assertThat(codeOf(cancelled.getRangeSplitPoints(scratch.all(), 1_000)))
        .isEqualTo(TRANSACTION_CANCELLED);
  }
}
