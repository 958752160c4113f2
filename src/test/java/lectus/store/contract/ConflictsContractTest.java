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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Section 5: read-your-writes, and who conflicts with whom. */
class ConflictsContractTest {
  private static final byte[] ONE = {1};

  @RegisterExtension static final TestStores stores = new TestStores();

  private final Scratch scratch = new Scratch(stores.fresh());
  private final byte[] k = scratch.key("k");

  @AfterEach
  void close() {
    scratch.close();
  }

  @Test
  void aReadConflictsWithALaterWriteOfItsKey_missingOrNot() {
    assertThat(outcome(t -> read(t, "k"), () -> scratch.set("k"))).isEqualTo(NOT_COMMITTED);
    assertThat(outcome(t -> read(t, "k"), () -> scratch.set("k"))).isEqualTo(NOT_COMMITTED);
    assertThat(outcome(t -> read(t, "k"), () -> scratch.committed(o -> o.clear(k))))
        .isEqualTo(NOT_COMMITTED);
    assertThat(outcome(t -> read(t, "k"), () -> scratch.set("j", "k\u0000", "l"))).isEqualTo(OK);
  }

  @Test
  void aWriteOfTheSameValueConflictsAsWell() {
    scratch.set("k");
    assertThat(outcome(t -> read(t, "k"), () -> scratch.set("k"))).isEqualTo(NOT_COMMITTED);
  }

  @Test
  void aClearOfNothingConflictsToo() {
    assertThat(
            outcome(
                t -> read(t, "k"),
                () -> scratch.committed(o -> o.clear(scratch.key("a"), scratch.key("z")))))
        .isEqualTo(NOT_COMMITTED);
  }

  @Test
  void anAtomicConflictsWithReaders() {
    assertThat(
            outcome(
                t -> read(t, "k"),
                () -> scratch.committed(o -> o.mutate(MutationType.ADD, k, ONE))))
        .isEqualTo(NOT_COMMITTED);
  }

  @Test
  void whatWasCommittedBeforeTheReadVersionDoesNotCount() {
    scratch.set("k");
    assertThat(outcome(t -> read(t, "k"), () -> {})).isEqualTo(OK);
  }

  @Test
  void aReadOfAnOwnSetDoesNotConflict() {
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
  void aReadOfAnAtomicOnAnUnknownValueConflicts() {
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
  void aReadOfAnAtomicOverAnOwnClearOrSetDoesNotConflict() {
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
  void atomicsAloneNeverConflict() {
    assertThat(
            outcome(
                t -> t.mutate(MutationType.ADD, k, ONE),
                () -> scratch.committed(o -> o.mutate(MutationType.ADD, k, ONE))))
        .isEqualTo(OK);
    assertThat(scratch.stored(k)).containsExactly(2);
  }

  @Test
  void addedReadConflictsFollowTheSameRule() {
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
  void addIfNotSnapshotTellsWhatItDid() {
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
  void aSnapshotReadDoesNotConflict_butSeesOwnWrites() {
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
  void twoBlindWritesBothCommit() {
    Transaction first = scratch.started();
    Transaction second = scratch.started();
    first.set(k, bytes("1"));
    second.set(k, bytes("2"));
    assertThat(codeOf(first.commit())).isEqualTo(OK);
    assertThat(codeOf(second.commit())).isEqualTo(OK);
    assertThat(scratch.stored(k)).isEqualTo(bytes("2"));
  }

  @Test
  void nextWriteNoWriteConflictRange_isForOneWrite() {
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
  void aWriteWithoutConflictRangeStaysWithoutOne_whenAnotherKeyHasOne() {
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
  void withoutAReadTheReadVersionIsTakenAtCommit() {
    Transaction late = scratch.begin();
    late.addReadConflictKey(k);
    scratch.set("k");
    assertThat(scratch.outcome(late)).isEqualTo(OK);
    assertThat(outcome(t -> t.addReadConflictKey(k), () -> scratch.set("k")))
        .isEqualTo(NOT_COMMITTED);
  }

  @Test
  void aWriteConflictAloneIsARealCommit() {
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
  void abortedWritesNeverConflict() {
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
  void ownWritesNeverConflict() {
    Transaction t = scratch.started();
    read(t, "k");
    t.set(k, bytes("v"));
    assertThat(codeOf(t.commit())).isEqualTo(OK);
  }

  @Test
  void aReadOnlyTransactionCommitsUnchecked() {
    Transaction t = scratch.started();
    read(t, "k");
    scratch.set("k");
    assertThat(codeOf(t.commit())).isEqualTo(OK);
    assertThat(t.getCommittedVersion()).isEqualTo(-1);
  }

  @Test
  void readsSeeOneVersion() {
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
  void readYourWritesCoverEveryMutation() {
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
  void writeSkewIsPrevented() {
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
  void ofTwoThatReadAndWriteOneKeyAtOnceOneWins() {
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
  void conflictRangesReachToTheEndsOfTheKeySpace() {
    assertThat(outcome(t -> t.addReadConflictRange(k, FF), () -> scratch.set("z")))
        .isEqualTo(NOT_COMMITTED);
    assertThat(
            outcome(
                t -> read(t, "k"),
                () -> scratch.committed(o -> o.addWriteConflictRange(EMPTY, FF))))
        .isEqualTo(NOT_COMMITTED);
  }

  /** The outcome of a transaction that has its read version, then does {@code steps}. */
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
}
