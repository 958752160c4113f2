package lectus.store.contract;

import static lectus.store.contract.ErrorCodes.NOT_COMMITTED;
import static lectus.store.contract.ErrorCodes.OK;
import static lectus.store.contract.Outcomes.valueOf;
import static lectus.store.contract.Scratch.EMPTY;
import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.KeySelector;
import com.apple.foundationdb.Transaction;
import java.util.function.Consumer;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * How far the read conflict of a range or a key selector reaches (docs/foundationdb-contract.md,
 * section 5).
 */
class RangeConflictsContractTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private final Scratch scratch = new Scratch(stores.fresh());
  private final byte[] k = scratch.key("k");

  @AfterEach
  void close() {
    scratch.close();
  }

  @Test
  void a_range_stopped_by_its_limit_conflicts_up_to_its_last_row() {
    scratch.set("a", "b", "c");
    Consumer<Transaction> firstRow = t -> range(t, "a", "z", 1, false);
    assertThat(outcome(firstRow, () -> scratch.set("b"))).isEqualTo(OK);
    assertThat(outcome(firstRow, () -> scratch.set("a\u0000"))).isEqualTo(OK);
    assertThat(outcome(firstRow, () -> scratch.set("a"))).isEqualTo(NOT_COMMITTED);
    Consumer<Transaction> lastRow = t -> range(t, "a", "z", 1, true);
    assertThat(outcome(lastRow, () -> scratch.set("b"))).isEqualTo(OK);
    assertThat(outcome(lastRow, () -> scratch.set("bb"))).isEqualTo(OK);
    assertThat(outcome(lastRow, () -> scratch.set("c"))).isEqualTo(NOT_COMMITTED);
    assertThat(outcome(lastRow, () -> scratch.committed(o -> o.clear(scratch.key("x")))))
        .isEqualTo(NOT_COMMITTED);
  }

  @Test
  void a_range_stopped_by_its_limit_conflicts_from_its_begin() {
    scratch.set("c", "e");
    assertThat(outcome(t -> range(t, "a", "z", 1, false), () -> scratch.set("b")))
        .isEqualTo(NOT_COMMITTED);
  }

  @Test
  void exactly_as_many_rows_as_the_limit_allows_is_stopped() {
    scratch.set("a", "b");
    assertThat(outcome(t -> range(t, "a", "z", 2, false), () -> scratch.set("c"))).isEqualTo(OK);
    assertThat(outcome(t -> range(t, "a", "z", 4, false), () -> scratch.set("d")))
        .isEqualTo(NOT_COMMITTED);
  }

  @Test
  void a_limit_is_counted_over_own_writes_too() {
    scratch.set("b", "d");
    Consumer<Transaction> steps =
        t -> {
          t.set(scratch.key("a"), EMPTY);
          t.clear(scratch.key("b"));
          range(t, "a", "z", 2, false);
        };
    assertThat(outcome(steps, () -> scratch.set("e"))).isEqualTo(OK);
    assertThat(outcome(steps, () -> scratch.set("b"))).isEqualTo(OK);
    assertThat(outcome(steps, () -> scratch.set("c"))).isEqualTo(NOT_COMMITTED);
  }

  @Test
  void an_empty_range_conflicts_with_an_insert_inside() {
    Consumer<Transaction> steps = t -> range(t, "a", "b", 0, false);
    assertThat(outcome(steps, () -> scratch.set("aa"))).isEqualTo(NOT_COMMITTED);
    scratch.committed(o -> o.clear(scratch.key("aa")));
    assertThat(outcome(steps, () -> scratch.set("b"))).isEqualTo(OK);
    assertThat(outcome(steps, () -> scratch.set("a"))).isEqualTo(NOT_COMMITTED);
  }

  @Test
  void a_whole_range_conflicts_with_insert_and_removal() {
    scratch.set("b", "d");
    Consumer<Transaction> steps = t -> range(t, "a", "e", 0, false);
    assertThat(outcome(steps, () -> scratch.committed(o -> o.clear(scratch.key("d")))))
        .isEqualTo(NOT_COMMITTED);
    assertThat(outcome(t -> range(t, "a", "e", 0, true), () -> scratch.set("dd")))
        .isEqualTo(NOT_COMMITTED);
    assertThat(outcome(t -> range(t, "a", "e", 5, true), () -> scratch.set("a")))
        .isEqualTo(NOT_COMMITTED);
  }

  @Test
  void a_selector_conflicts_between_its_base_and_its_result() {
    scratch.set("a", "c", "e");
    Consumer<Transaction> forward =
        t -> valueOf(t.getKey(KeySelector.firstGreaterThan(scratch.key("a"))));
    assertThat(outcome(forward, () -> scratch.set("d"))).isEqualTo(OK);
    assertThat(outcome(forward, () -> scratch.set("a"))).isEqualTo(OK);
    assertThat(outcome(forward, () -> scratch.set("c"))).isEqualTo(NOT_COMMITTED);
    assertThat(outcome(forward, () -> scratch.set("b"))).isEqualTo(NOT_COMMITTED);
    scratch.committed(o -> o.clear(scratch.key("b")));

    Consumer<Transaction> backward =
        t -> valueOf(t.getKey(KeySelector.lastLessThan(scratch.key("c"))));
    assertThat(outcome(backward, () -> scratch.set("c"))).isEqualTo(OK);
    assertThat(outcome(backward, () -> scratch.set("a"))).isEqualTo(NOT_COMMITTED);
    assertThat(outcome(backward, () -> scratch.set("b"))).isEqualTo(NOT_COMMITTED);
    scratch.committed(o -> o.clear(scratch.key("b")));

    Consumer<Transaction> inclusive =
        t -> valueOf(t.getKey(KeySelector.lastLessOrEqual(scratch.key("b"))));
    assertThat(outcome(inclusive, () -> scratch.set("c"))).isEqualTo(OK);
    assertThat(outcome(inclusive, () -> scratch.set("b"))).isEqualTo(NOT_COMMITTED);
  }

  @Test
  void a_selector_with_an_offset_conflicts_all_the_way() {
    scratch.set("a", "c", "e", "g");
    Consumer<Transaction> steps =
        t -> valueOf(t.getKey(KeySelector.firstGreaterOrEqual(scratch.key("a")).add(2)));
    assertThat(outcome(steps, () -> scratch.set("f"))).isEqualTo(OK);
    assertThat(outcome(steps, () -> scratch.set("b"))).isEqualTo(NOT_COMMITTED);
    scratch.committed(o -> o.clear(scratch.key("b")));
    assertThat(outcome(steps, () -> scratch.committed(o -> o.clear(scratch.key("c")))))
        .isEqualTo(NOT_COMMITTED);
  }

  @Test
  void an_added_range_leaves_out_only_what_is_own() {
    Consumer<Transaction> steps =
        t -> {
          t.set(k, EMPTY);
          t.clear(scratch.key("m"), scratch.key("p"));
          t.addReadConflictRange(scratch.key("a"), scratch.key("z"));
        };
    assertThat(outcome(steps, () -> scratch.set("k", "m", "n"))).isEqualTo(OK);
    assertThat(outcome(steps, () -> scratch.set("a"))).isEqualTo(NOT_COMMITTED);
    assertThat(outcome(steps, () -> scratch.set("k\u0000"))).isEqualTo(NOT_COMMITTED);
    assertThat(outcome(steps, () -> scratch.set("l"))).isEqualTo(NOT_COMMITTED);
    assertThat(outcome(steps, () -> scratch.set("p"))).isEqualTo(NOT_COMMITTED);
    assertThat(outcome(steps, () -> scratch.set("z"))).isEqualTo(OK);
  }

  /** Returns the outcome of a transaction that takes its read version before {@code steps}. */
  private int outcome(Consumer<Transaction> steps, Runnable other) {
    Transaction t = scratch.started();
    steps.accept(t);
    other.run();
    return scratch.outcome(t);
  }

  private void range(Transaction t, String begin, String end, int limit, boolean reverse) {
    valueOf(t.getRange(scratch.key(begin), scratch.key(end), limit, reverse).asList());
  }
}
