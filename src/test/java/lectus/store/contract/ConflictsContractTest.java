package lectus.store.contract;

import static lectus.store.contract.ErrorCodes.NOT_COMMITTED;
import static lectus.store.contract.ErrorCodes.OK;
import static lectus.store.contract.Outcomes.codeOf;
import static lectus.store.contract.Outcomes.valueOf;
import static lectus.store.contract.Scratch.EMPTY;
import static lectus.store.contract.Scratch.FF;
import static lectus.store.contract.Scratch.bytes;
import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.KeySelector;
import com.apple.foundationdb.MutationType;
import com.apple.foundationdb.Transaction;
import java.util.function.Consumer;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Read-your-writes, who conflicts with whom, and how far the read conflict of a range or a key
 * selector reaches (docs/foundationdb-contract.md, section 5).
 */
class ConflictsContractTest {
  private static final byte[] ONE = {1};

  @RegisterExtension static final TestStores stores = new TestStores();

  @AutoClose private final Scratch scratch = new Scratch(stores.fresh());

  private final byte[] k = scratch.key("k");

  @Test
  void a_read_conflicts_with_a_later_write_of_its_key_missing_or_not() {
    conflicts(t -> read(t, "k"), () -> scratch.set("k"));
    conflicts(t -> read(t, "k"), () -> scratch.set("k"));
    conflicts(t -> read(t, "k"), () -> scratch.committed(o -> o.clear(k)));
    commits(t -> read(t, "k"), () -> scratch.set("j", "k\u0000", "l"));
  }

  @Test
  void a_write_of_the_same_value_conflicts_as_well() {
    scratch.set("k");
    conflicts(t -> read(t, "k"), () -> scratch.set("k"));
  }

  @Test
  void a_clear_of_nothing_conflicts_too() {
    conflicts(
        t -> read(t, "k"),
        () -> scratch.committed(o -> o.clear(scratch.key("a"), scratch.key("z"))));
  }

  @Test
  void an_atomic_conflicts_with_readers() {
    conflicts(t -> read(t, "k"), () -> scratch.committed(o -> o.mutate(MutationType.ADD, k, ONE)));
  }

  @Test
  void what_was_committed_before_the_read_version_does_not_count() {
    scratch.set("k");
    commits(t -> read(t, "k"), () -> {});
  }

  @Test
  void a_read_of_an_own_set_does_not_conflict() {
    commits(
        t -> {
          t.set(k, bytes("own"));
          assertThat(scratch.get(t, "k")).isEqualTo("own");
        },
        () -> scratch.set("k"));
    assertThat(scratch.stored(k)).isEqualTo(bytes("own"));
  }

  @Test
  void a_read_of_an_atomic_on_an_unknown_value_conflicts() {
    conflicts(
        t -> {
          t.mutate(MutationType.ADD, k, ONE);
          read(t, "k");
        },
        () -> scratch.set("k"));
  }

  @Test
  void a_read_of_an_atomic_over_an_own_clear_or_set_does_not_conflict() {
    commits(
        t -> {
          t.clear(k);
          t.mutate(MutationType.ADD, k, ONE);
          assertThat(valueOf(t.get(k))).isEqualTo(ONE);
        },
        () -> scratch.set("k"));
    commits(
        t -> {
          t.set(k, ONE);
          t.mutate(MutationType.ADD, k, ONE);
          assertThat(valueOf(t.get(k))).containsExactly(2);
        },
        () -> scratch.set("k"));
    commits(
        t -> {
          t.clear(k);
          assertThat(valueOf(t.get(k))).isNull();
        },
        () -> scratch.set("k"));
  }

  @Test
  void atomics_alone_never_conflict() {
    commits(
        t -> t.mutate(MutationType.ADD, k, ONE),
        () -> scratch.committed(o -> o.mutate(MutationType.ADD, k, ONE)));
    assertThat(scratch.stored(k)).containsExactly(2);
  }

  @Test
  void a_read_conflict_that_is_added_leaves_out_own_writes_as_a_read_does() {
    commits(
        t -> {
          t.set(k, EMPTY);
          t.addReadConflictKey(k);
          t.addReadConflictRange(k, scratch.key("k\u0000"));
        },
        () -> scratch.set("k"));
    conflicts(
        t -> {
          t.addReadConflictKey(k);
          t.set(k, EMPTY);
        },
        () -> scratch.set("k"));
    conflicts(
        t -> {
          t.mutate(MutationType.ADD, k, ONE);
          t.addReadConflictKey(k);
        },
        () -> scratch.set("k"));
  }

  @Test
  void add_if_not_snapshot_tells_what_it_did() {
    commits(
        t -> {
          assertThat(t.snapshot().addReadConflictKeyIfNotSnapshot(k)).isFalse();
          assertThat(t.snapshot().addReadConflictRangeIfNotSnapshot(k, scratch.key("l"))).isFalse();
          assertThat(t.snapshot().isSnapshot()).isTrue();
          assertThat(t.isSnapshot()).isFalse();
        },
        () -> scratch.set("k"));
    conflicts(
        t -> assertThat(t.addReadConflictKeyIfNotSnapshot(k)).isTrue(), () -> scratch.set("k"));
    conflicts(
        t -> assertThat(t.addReadConflictRangeIfNotSnapshot(k, scratch.key("l"))).isTrue(),
        () -> scratch.set("kk"));
  }

  @Test
  void a_snapshot_read_does_not_conflict_but_sees_own_writes() {
    scratch.set("k");
    commits(t -> valueOf(t.snapshot().get(k)), () -> scratch.set("k"));
    commits(
        t -> {
          valueOf(t.snapshot().getRange(scratch.all()).asList());
          valueOf(t.snapshot().getKey(KeySelector.firstGreaterThan(EMPTY)));
        },
        () -> scratch.set("k"));
    Transaction t = scratch.begin();
    t.set(k, bytes("own"));
    t.set(scratch.key("l"), EMPTY);
    assertThat(scratch.get(t.snapshot(), "k")).isEqualTo("own");
    assertThat(valueOf(t.snapshot().getRange(k, scratch.key("m")).asList())).hasSize(2);
  }

  @Test
  void two_blind_writes_both_commit() {
    Transaction first = scratch.started();
    Transaction second = scratch.started();
    first.set(k, bytes("1"));
    second.set(k, bytes("2"));
    assertThat(codeOf(first.commit())).isEqualTo(OK);
    assertThat(codeOf(second.commit())).isEqualTo(OK);
    assertThat(scratch.stored(k)).isEqualTo(bytes("2"));
  }

  @Test
  void next_write_no_write_conflict_range_is_for_one_write() {
    commits(
        t -> read(t, "k"),
        () ->
            scratch.committed(
                o -> {
                  o.options().setNextWriteNoWriteConflictRange();
                  o.set(k, EMPTY);
                }));
    conflicts(
        t -> read(t, "k"),
        () ->
            scratch.committed(
                o -> {
                  o.options().setNextWriteNoWriteConflictRange();
                  o.set(scratch.key("other"), EMPTY);
                  o.set(k, EMPTY);
                }));
    commits(
        t -> read(t, "k"),
        () ->
            scratch.committed(
                o -> {
                  o.options().setNextWriteNoWriteConflictRange();
                  o.clear(scratch.key("a"), scratch.key("z"));
                }));
    commits(
        t -> read(t, "k"),
        () ->
            scratch.committed(
                o -> {
                  o.options().setNextWriteNoWriteConflictRange();
                  o.mutate(MutationType.ADD, k, ONE);
                }));
  }

  @Test
  void a_write_without_conflict_range_stays_without_one_when_another_key_has_one() {
    commits(
        t -> read(t, "k"),
        () ->
            scratch.committed(
                o -> {
                  o.set(scratch.key("a"), EMPTY);
                  o.options().setNextWriteNoWriteConflictRange();
                  o.set(k, EMPTY);
                  o.set(scratch.key("z"), EMPTY);
                }));
    assertThat(scratch.stored(k)).isEmpty();
  }

  @Test
  void without_a_read_the_read_version_is_taken_at_commit() {
    Transaction late = scratch.begin();
    late.addReadConflictKey(k);
    scratch.set("k");
    assertThat(scratch.outcome(late)).isEqualTo(OK);
    conflicts(t -> t.addReadConflictKey(k), () -> scratch.set("k"));
  }

  @Test
  void a_write_conflict_alone_is_a_real_commit() {
    Transaction reader = scratch.started();
    read(reader, "k");
    Transaction t = scratch.begin();
    t.addWriteConflictKey(k);
    assertThat(codeOf(t.commit())).isEqualTo(OK);
    assertThat(t.getCommittedVersion()).isPositive();
    assertThat(scratch.outcome(reader)).isEqualTo(NOT_COMMITTED);
    assertThat(scratch.stored(k)).isNull();

    Transaction rangeReader = scratch.started();
    range(rangeReader, "a", "z", 0, false);
    scratch.committed(o -> o.addWriteConflictRange(scratch.key("m"), scratch.key("n")));
    assertThat(scratch.outcome(rangeReader)).isEqualTo(NOT_COMMITTED);
  }

  @Test
  void aborted_writes_never_conflict() {
    commits(
        t -> read(t, "k"),
        () -> {
          Transaction loser = scratch.started();
          read(loser, "x");
          scratch.set("x");
          loser.set(k, EMPTY);
          assertThat(codeOf(loser.commit())).isEqualTo(NOT_COMMITTED);
          Transaction cancelled = scratch.begin();
          cancelled.set(k, EMPTY);
          cancelled.cancel();
        });
    assertThat(scratch.stored(k)).isNull();
  }

  @Test
  void own_writes_never_conflict() {
    Transaction t = scratch.started();
    read(t, "k");
    t.set(k, bytes("v"));
    assertThat(codeOf(t.commit())).isEqualTo(OK);
  }

  @Test
  void a_read_only_transaction_commits_unchecked() {
    Transaction t = scratch.started();
    read(t, "k");
    scratch.set("k");
    assertThat(codeOf(t.commit())).isEqualTo(OK);
    assertThat(t.getCommittedVersion()).isEqualTo(-1);
  }

  @Test
  void all_reads_of_a_transaction_see_one_version() {
    scratch.set("a", "k");
    Transaction t = scratch.started();
    scratch.committed(
        o -> {
          o.set(k, bytes("new"));
          o.clear(scratch.key("a"));
          o.set(scratch.key("b"), EMPTY);
        });
    assertThat(scratch.get(t, "k")).isEqualTo("k");
    assertThat(scratch.get(t.snapshot(), "a")).isEqualTo("a");
    assertThat(scratch.suffixes(valueOf(t.getRange(scratch.all()).asList()))).isEqualTo("a k");
  }

  @Test
  void read_your_writes_cover_every_mutation() {
    scratch.set("a", "b", "c", "d");
    Transaction t = scratch.begin();
    t.set(scratch.key("a"), bytes("1"));
    t.clear(scratch.key("b"));
    t.mutate(MutationType.APPEND_IF_FITS, scratch.key("c"), bytes("+"));
    t.clear(scratch.key("d"), scratch.key("e"));
    t.mutate(MutationType.APPEND_IF_FITS, scratch.key("d"), bytes("+"));
    assertThat(scratch.get(t, "a")).isEqualTo("1");
    assertThat(scratch.get(t, "b")).isNull();
    assertThat(scratch.get(t, "c")).isEqualTo("c+");
    assertThat(scratch.get(t, "d")).isEqualTo("+");
    assertThat(scratch.suffixes(valueOf(t.getRange(scratch.all()).asList()))).isEqualTo("a c d");
    assertThat(scratch.stored(scratch.key("a"))).isEqualTo(bytes("a"));
  }

  @Test
  void write_skew_is_prevented() {
    scratch.set("x", "y");
    Transaction first = scratch.started();
    Transaction second = scratch.started();
    read(first, "x");
    read(second, "y");
    first.set(scratch.key("y"), EMPTY);
    second.set(scratch.key("x"), EMPTY);
    assertThat(codeOf(first.commit())).isEqualTo(OK);
    assertThat(codeOf(second.commit())).isEqualTo(NOT_COMMITTED);
  }

  @Test
  void of_two_that_read_and_write_one_key_at_once_one_wins() {
    for (int round = 0; round < 20; round++) {
      Transaction first = scratch.started();
      Transaction second = scratch.started();
      read(first, "k");
      read(second, "k");
      first.set(k, EMPTY);
      second.set(k, EMPTY);
      var firstCommit = first.commit();
      var secondCommit = second.commit();
      assertThat(codeOf(firstCommit) + codeOf(secondCommit)).isEqualTo(NOT_COMMITTED);
    }
  }

  @Test
  void conflict_ranges_reach_to_the_ends_of_the_key_space() {
    conflicts(t -> t.addReadConflictRange(k, FF), () -> scratch.set("z"));
    conflicts(t -> read(t, "k"), () -> scratch.committed(o -> o.addWriteConflictRange(EMPTY, FF)));
  }

  /** Returns the outcome of a transaction that takes its read version before {@code steps}. */
  private void commits(Consumer<Transaction> steps, Runnable other) {
    assertThat(outcome(steps, other)).isEqualTo(OK);
  }

  private void conflicts(Consumer<Transaction> steps, Runnable other) {
    assertThat(outcome(steps, other)).isEqualTo(NOT_COMMITTED);
  }

  /** Commits {@code steps} after another transaction did {@code other}. */
  private int outcome(Consumer<Transaction> steps, Runnable other) {
    Transaction t = scratch.started();
    steps.accept(t);
    other.run();
    return scratch.outcome(t);
  }

  private void clear(String suffix) {
    scratch.committed(other -> other.clear(scratch.key(suffix)));
  }

  private void read(Transaction t, String suffix) {
    valueOf(t.get(scratch.key(suffix)));
  }

  private void range(Transaction t, String begin, String end, int limit, boolean reverse) {
    valueOf(t.getRange(scratch.key(begin), scratch.key(end), limit, reverse).asList());
  }

  @Test
  void a_range_stopped_by_its_limit_conflicts_up_to_its_last_row() {
    scratch.set("a", "b", "c");
    Consumer<Transaction> firstRow = t -> range(t, "a", "z", 1, false);
    commits(firstRow, () -> scratch.set("b"));
    commits(firstRow, () -> scratch.set("a\u0000"));
    conflicts(firstRow, () -> scratch.set("a"));
    Consumer<Transaction> lastRow = t -> range(t, "a", "z", 1, true);
    commits(lastRow, () -> scratch.set("b"));
    commits(lastRow, () -> scratch.set("bb"));
    conflicts(lastRow, () -> scratch.set("c"));
    conflicts(lastRow, () -> clear("x"));
  }

  @Test
  void a_range_stopped_by_its_limit_conflicts_from_its_begin() {
    scratch.set("c", "e");
    conflicts(t -> range(t, "a", "z", 1, false), () -> scratch.set("b"));
  }

  @Test
  void exactly_as_many_rows_as_the_limit_allows_is_stopped() {
    scratch.set("a", "b");
    commits(t -> range(t, "a", "z", 2, false), () -> scratch.set("c"));
    conflicts(t -> range(t, "a", "z", 4, false), () -> scratch.set("d"));
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
    commits(steps, () -> scratch.set("e"));
    commits(steps, () -> scratch.set("b"));
    conflicts(steps, () -> scratch.set("c"));
  }

  @Test
  void an_empty_range_conflicts_with_an_insert_inside() {
    Consumer<Transaction> steps = t -> range(t, "a", "b", 0, false);
    conflicts(steps, () -> scratch.set("aa"));
    clear("aa");
    commits(steps, () -> scratch.set("b"));
    conflicts(steps, () -> scratch.set("a"));
  }

  @Test
  void a_whole_range_conflicts_with_insert_and_removal() {
    scratch.set("b", "d");
    Consumer<Transaction> steps = t -> range(t, "a", "e", 0, false);
    conflicts(steps, () -> clear("d"));
    conflicts(t -> range(t, "a", "e", 0, true), () -> scratch.set("dd"));
    conflicts(t -> range(t, "a", "e", 5, true), () -> scratch.set("a"));
  }

  @Test
  void a_selector_conflicts_between_its_base_and_its_result() {
    scratch.set("a", "c", "e");
    Consumer<Transaction> forward =
        t -> valueOf(t.getKey(KeySelector.firstGreaterThan(scratch.key("a"))));
    commits(forward, () -> scratch.set("d"));
    commits(forward, () -> scratch.set("a"));
    conflicts(forward, () -> scratch.set("c"));
    conflicts(forward, () -> scratch.set("b"));
    clear("b");

    Consumer<Transaction> backward =
        t -> valueOf(t.getKey(KeySelector.lastLessThan(scratch.key("c"))));
    commits(backward, () -> scratch.set("c"));
    conflicts(backward, () -> scratch.set("a"));
    conflicts(backward, () -> scratch.set("b"));
    clear("b");

    Consumer<Transaction> inclusive =
        t -> valueOf(t.getKey(KeySelector.lastLessOrEqual(scratch.key("b"))));
    commits(inclusive, () -> scratch.set("c"));
    conflicts(inclusive, () -> scratch.set("b"));
  }

  @Test
  void a_selector_with_an_offset_conflicts_all_the_way() {
    scratch.set("a", "c", "e", "g");
    Consumer<Transaction> steps =
        t -> valueOf(t.getKey(KeySelector.firstGreaterOrEqual(scratch.key("a")).add(2)));
    commits(steps, () -> scratch.set("f"));
    conflicts(steps, () -> scratch.set("b"));
    clear("b");
    conflicts(steps, () -> clear("c"));
  }

  @Test
  void an_added_range_leaves_out_only_what_is_own() {
    Consumer<Transaction> steps =
        t -> {
          t.set(k, EMPTY);
          t.clear(scratch.key("m"), scratch.key("p"));
          t.addReadConflictRange(scratch.key("a"), scratch.key("z"));
        };
    commits(steps, () -> scratch.set("k", "m", "n"));
    conflicts(steps, () -> scratch.set("a"));
    conflicts(steps, () -> scratch.set("k\u0000"));
    conflicts(steps, () -> scratch.set("l"));
    conflicts(steps, () -> scratch.set("p"));
    commits(steps, () -> scratch.set("z"));
  }
}
