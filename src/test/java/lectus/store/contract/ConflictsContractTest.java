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
    assertThat(outcome(t -> read(t, "k"), () -> scratch.set("k"))).isEqualTo(NOT_COMMITTED);
    assertThat(outcome(t -> read(t, "k"), () -> scratch.set("k"))).isEqualTo(NOT_COMMITTED);
    assertThat(outcome(t -> read(t, "k"), () -> scratch.committed(o -> o.clear(k))))
        .isEqualTo(NOT_COMMITTED);
    assertThat(outcome(t -> read(t, "k"), () -> scratch.set("j", "k\u0000", "l"))).isEqualTo(OK);
  }

  @Test
  void a_write_of_the_same_value_conflicts_as_well() {
    scratch.set("k");
    assertThat(outcome(t -> read(t, "k"), () -> scratch.set("k"))).isEqualTo(NOT_COMMITTED);
  }

  @Test
  void a_clear_of_nothing_conflicts_too() {
    assertThat(
            outcome(
                t -> read(t, "k"),
                () -> scratch.committed(o -> o.clear(scratch.key("a"), scratch.key("z")))))
        .isEqualTo(NOT_COMMITTED);
  }

  @Test
  void an_atomic_conflicts_with_readers() {
    assertThat(
            outcome(
                t -> read(t, "k"),
                () -> scratch.committed(o -> o.mutate(MutationType.ADD, k, ONE))))
        .isEqualTo(NOT_COMMITTED);
  }

  @Test
  void what_was_committed_before_the_read_version_does_not_count() {
    scratch.set("k");
    assertThat(outcome(t -> read(t, "k"), () -> {})).isEqualTo(OK);
  }

  @Test
  void a_read_of_an_own_set_does_not_conflict() {
    assertThat(
            outcome(
                t -> {
                  t.set(k, bytes("own"));
                  assertThat(scratch.get(t, "k")).isEqualTo("own");
                },
                () -> scratch.set("k")))
        .isEqualTo(OK);
    assertThat(scratch.stored(k)).isEqualTo(bytes("own"));
  }

  @Test
  void a_read_of_an_atomic_on_an_unknown_value_conflicts() {
    assertThat(
            outcome(
                t -> {
                  t.mutate(MutationType.ADD, k, ONE);
                  read(t, "k");
                },
                () -> scratch.set("k")))
        .isEqualTo(NOT_COMMITTED);
  }

  @Test
  void a_read_of_an_atomic_over_an_own_clear_or_set_does_not_conflict() {
    assertThat(
            outcome(
                t -> {
                  t.clear(k);
                  t.mutate(MutationType.ADD, k, ONE);
                  assertThat(valueOf(t.get(k))).isEqualTo(ONE);
                },
                () -> scratch.set("k")))
        .isEqualTo(OK);
    assertThat(
            outcome(
                t -> {
                  t.set(k, ONE);
                  t.mutate(MutationType.ADD, k, ONE);
                  assertThat(valueOf(t.get(k))).containsExactly(2);
                },
                () -> scratch.set("k")))
        .isEqualTo(OK);
    assertThat(
            outcome(
                t -> {
                  t.clear(k);
                  assertThat(valueOf(t.get(k))).isNull();
                },
                () -> scratch.set("k")))
        .isEqualTo(OK);
  }

  @Test
  void atomics_alone_never_conflict() {
    assertThat(
            outcome(
                t -> t.mutate(MutationType.ADD, k, ONE),
                () -> scratch.committed(o -> o.mutate(MutationType.ADD, k, ONE))))
        .isEqualTo(OK);
    assertThat(scratch.stored(k)).containsExactly(2);
  }

  @Test
  void a_read_conflict_that_is_added_leaves_out_own_writes_as_a_read_does() {
    assertThat(
            outcome(
                t -> {
                  t.set(k, EMPTY);
                  t.addReadConflictKey(k);
                  t.addReadConflictRange(k, scratch.key("k\u0000"));
                },
                () -> scratch.set("k")))
        .isEqualTo(OK);
    assertThat(
            outcome(
                t -> {
                  t.addReadConflictKey(k);
                  t.set(k, EMPTY);
                },
                () -> scratch.set("k")))
        .isEqualTo(NOT_COMMITTED);
    assertThat(
            outcome(
                t -> {
                  t.mutate(MutationType.ADD, k, ONE);
                  t.addReadConflictKey(k);
                },
                () -> scratch.set("k")))
        .isEqualTo(NOT_COMMITTED);
  }

  @Test
  void add_if_not_snapshot_tells_what_it_did() {
    assertThat(
            outcome(
                t -> {
                  assertThat(t.snapshot().addReadConflictKeyIfNotSnapshot(k)).isFalse();
                  assertThat(t.snapshot().addReadConflictRangeIfNotSnapshot(k, scratch.key("l")))
                      .isFalse();
                  assertThat(t.snapshot().isSnapshot()).isTrue();
                  assertThat(t.isSnapshot()).isFalse();
                },
                () -> scratch.set("k")))
        .isEqualTo(OK);
    assertThat(
            outcome(
                t -> assertThat(t.addReadConflictKeyIfNotSnapshot(k)).isTrue(),
                () -> scratch.set("k")))
        .isEqualTo(NOT_COMMITTED);
    assertThat(
            outcome(
                t -> assertThat(t.addReadConflictRangeIfNotSnapshot(k, scratch.key("l"))).isTrue(),
                () -> scratch.set("kk")))
        .isEqualTo(NOT_COMMITTED);
  }

  @Test
  void a_snapshot_read_does_not_conflict_but_sees_own_writes() {
    scratch.set("k");
    assertThat(outcome(t -> valueOf(t.snapshot().get(k)), () -> scratch.set("k"))).isEqualTo(OK);
    assertThat(
            outcome(
                t -> {
                  valueOf(t.snapshot().getRange(scratch.all()).asList());
                  valueOf(t.snapshot().getKey(KeySelector.firstGreaterThan(EMPTY)));
                },
                () -> scratch.set("k")))
        .isEqualTo(OK);
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
    assertThat(
            outcome(
                t -> read(t, "k"),
                () ->
                    scratch.committed(
                        o -> {
                          o.options().setNextWriteNoWriteConflictRange();
                          o.set(k, EMPTY);
                        })))
        .isEqualTo(OK);
    assertThat(
            outcome(
                t -> read(t, "k"),
                () ->
                    scratch.committed(
                        o -> {
                          o.options().setNextWriteNoWriteConflictRange();
                          o.set(scratch.key("other"), EMPTY);
                          o.set(k, EMPTY);
                        })))
        .isEqualTo(NOT_COMMITTED);
    assertThat(
            outcome(
                t -> read(t, "k"),
                () ->
                    scratch.committed(
                        o -> {
                          o.options().setNextWriteNoWriteConflictRange();
                          o.clear(scratch.key("a"), scratch.key("z"));
                        })))
        .isEqualTo(OK);
    assertThat(
            outcome(
                t -> read(t, "k"),
                () ->
                    scratch.committed(
                        o -> {
                          o.options().setNextWriteNoWriteConflictRange();
                          o.mutate(MutationType.ADD, k, ONE);
                        })))
        .isEqualTo(OK);
  }

  @Test
  void a_write_without_conflict_range_stays_without_one_when_another_key_has_one() {
    assertThat(
            outcome(
                t -> read(t, "k"),
                () ->
                    scratch.committed(
                        o -> {
                          o.set(scratch.key("a"), EMPTY);
                          o.options().setNextWriteNoWriteConflictRange();
                          o.set(k, EMPTY);
                          o.set(scratch.key("z"), EMPTY);
                        })))
        .isEqualTo(OK);
    assertThat(scratch.stored(k)).isEmpty();
  }

  @Test
  void without_a_read_the_read_version_is_taken_at_commit() {
    Transaction late = scratch.begin();
    late.addReadConflictKey(k);
    scratch.set("k");
    assertThat(scratch.outcome(late)).isEqualTo(OK);
    assertThat(outcome(t -> t.addReadConflictKey(k), () -> scratch.set("k")))
        .isEqualTo(NOT_COMMITTED);
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
    assertThat(
            outcome(
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
                }))
        .isEqualTo(OK);
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
    assertThat(outcome(t -> t.addReadConflictRange(k, FF), () -> scratch.set("z")))
        .isEqualTo(NOT_COMMITTED);
    assertThat(
            outcome(
                t -> read(t, "k"),
                () -> scratch.committed(o -> o.addWriteConflictRange(EMPTY, FF))))
        .isEqualTo(NOT_COMMITTED);
  }

  /** Returns the outcome of a transaction that takes its read version before {@code steps}. */
  private int outcome(Consumer<Transaction> steps, Runnable other) {
    Transaction t = scratch.started();
    steps.accept(t);
    other.run();
    return scratch.outcome(t);
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
}
