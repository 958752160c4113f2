package lectus.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.apple.foundationdb.FDBException;
import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.MutationType;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.Transaction;
import com.apple.foundationdb.tuple.ByteArrayUtil;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.store.FaultyStore.Fault;
import lectus.store.TransactionRunner.CommitResult;
import lectus.store.TransactionRunner.PendingTransaction;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Writes on a store that does not report whether they were stored. Each adds a row under its
 * versionstamp, so a write that is stored twice leaves two rows.
 */
class UnknownResultTest {
  private static final TransactionLimits ONCE = new TransactionLimits(0, Duration.ofMinutes(1));
  private static final TransactionLimits TWICE = new TransactionLimits(1, Duration.ofMinutes(1));

  @RegisterExtension static final TestStores stores = new TestStores();

  private final Store sound = stores.fresh();
  private final FaultyStore faulty = new FaultyStore(sound, true);
  private final TransactionIds ids = faulty.store().transactionIds().orElseThrow();
  private final byte[] log = sound.directory().pack("log");
  private int runs;

  @ParameterizedTest
  @EnumSource(names = "IO_ERROR", mode = EnumSource.Mode.EXCLUDE)
  void whatever_happens_to_the_first_commit_the_write_is_stored_once(Fault fault) {
    faulty.plan(fault);

    CommitResult<Integer> committed = write(TransactionLimits.DEFAULT);

    faulty.deliver();
    assertStoredAs(committed);
  }

  @ParameterizedTest
  @EnumSource(names = "IO_ERROR", mode = EnumSource.Mode.EXCLUDE)
  void nor_does_it_matter_what_happens_to_the_second(Fault fault) {
    for (Fault first : List.of(Fault.UNKNOWN_AND_LOST, Fault.TIMED_OUT_THEN_STORED)) {
      clear();
      faulty.plan(first, fault, Fault.NONE, fault);

      CommitResult<Integer> committed = write(TransactionLimits.DEFAULT);

      faulty.heal();
      faulty.deliver();
      assertStoredAs(committed);
    }
  }

  @Test
  void the_result_of_the_run_that_was_stored_is_the_one_that_is_given() {
    faulty.plan(Fault.UNKNOWN_AND_LOST, Fault.UNKNOWN_BUT_STORED);
    assertThat(write(TransactionLimits.DEFAULT).value()).isEqualTo(2);
    assertThat(runs).isEqualTo(2);

    runs = 0;
    faulty.plan(Fault.UNKNOWN_BUT_STORED);
    assertThat(write(TransactionLimits.DEFAULT).value()).isEqualTo(1);
    assertThat(runs).isEqualTo(1);
  }

  @Test
  void a_write_that_may_not_be_tried_again_asks_nevertheless_what_became_of_it() {
    faulty.plan(Fault.UNKNOWN_BUT_STORED);
    assertStoredAs(write(ONCE));

    clear();
    faulty.plan(Fault.UNKNOWN_AND_LOST);
    assertGivenUp();
    assertThat(rows()).isEmpty();
  }

  private void assertGivenUp() {
    LectusException given = catchThrowableOfType(LectusException.class, () -> write(ONCE));
    assertThat(given.error())
        .isEqualTo(
            new LectusError.Unavailable(
                "The store did not answer in time; nothing was stored.", 1));
  }

  @Test
  void a_commit_on_its_way_cannot_arrive_any_more_once_the_write_was_given_up() {
    faulty.plan(Fault.TIMED_OUT_THEN_OVERTAKEN);

    assertGivenUp();
    faulty.deliver();

    assertThat(rows()).isEmpty();
  }

  @Test
  void the_doubt_outlives_a_transaction_that_lost() {
    // The second run loses, perhaps to the first: the third has to ask again.
    faulty.plan(Fault.TIMED_OUT_THEN_STORED, Fault.NONE);

    CommitResult<Integer> committed = write(TransactionLimits.DEFAULT);

    assertThat(committed.value()).isEqualTo(1);
    assertStoredAs(committed);
  }

  @Test
  void a_store_that_goes_on_saying_nothing_is_an_honest_error() {
    faulty.keepFailing(() -> Fault.UNKNOWN_AND_LOST);

    LectusException unknown = catchThrowableOfType(LectusException.class, () -> write(TWICE));

    assertThat(unknown.error()).isInstanceOf(LectusError.InDoubt.class);
    assertThat(unknown.error().reason()).contains("1021");
    assertThat(rows()).isEmpty();
    assertThat(runs).isEqualTo(2);
  }

  @ParameterizedTest
  @EnumSource(names = {"UNKNOWN_BUT_STORED", "TIMED_OUT_BUT_STORED"})
  void so_is_a_store_that_is_closed_meanwhile(Fault fault) {
    for (TransactionLimits limits : List.of(ONCE, TransactionLimits.DEFAULT)) {
      FaultyStore closing = new FaultyStore(sound, true);
      TransactionRunner runner = new TransactionRunner(closing.store(), limits);
      closing.plan(fault);
      closing.beforeNextCommit(closing::close);

      LectusException unknown =
          catchThrowableOfType(
              LectusException.class, () -> runner.runVersioned(tx -> append(tx, 1)));

      assertThat(unknown.error()).isInstanceOf(LectusError.InDoubt.class);
    }
  }

  @Test
  void what_the_body_throws_stands_only_once_nothing_is_on_its_way_any_more() {
    LectusException conflict = new LectusException(new LectusError.Conflict());

    faulty.plan(Fault.TIMED_OUT_THEN_OVERTAKEN);
    assertThatThrownBy(() -> write(TransactionLimits.DEFAULT, 2, conflict)).isSameAs(conflict);
    faulty.deliver();
    assertThat(rows()).isEmpty();

    faulty.plan(Fault.TIMED_OUT_THEN_STORED);
    runs = 0;
    assertStoredAs(write(TransactionLimits.DEFAULT, 2, conflict));
  }

  @Test
  void a_run_that_finds_nothing_to_write_still_keeps_the_earlier_one_from_arriving() {
    faulty.plan(Fault.TIMED_OUT_THEN_OVERTAKEN);

    CommitResult<Integer> committed =
        runner(TransactionLimits.DEFAULT)
            .begin(tx -> runs++ == 0 ? append(tx, 1) : Integer.valueOf(0), it -> it > 0)
            .finish();

    faulty.deliver();
    assertThat(committed.value()).isZero();
    assertThat(rows()).isEmpty();
  }

  @Test
  void what_writes_nothing_leaves_no_id_and_no_doubt() {
    faulty.plan(Fault.TIMED_OUT_AND_LOST);

    CommitResult<Integer> committed =
        runner(TransactionLimits.DEFAULT).begin(tx -> 0, value -> false).finish();

    assertThat(committed.versionstamp()).isNull();
    assertThat(idsLeft()).isZero();
  }

  @Test
  void an_id_that_may_have_been_swept_is_not_believed_to_be_absent() {
    faulty.plan(Fault.UNKNOWN_AND_LOST);
    faulty.beforeNextCommit(() -> faulty.goOnBy(TransactionIds.KEPT_VERSIONS + 1_000_000_000));

    assertThatThrownBy(() -> write(TransactionLimits.DEFAULT))
        .isInstanceOfSatisfying(
            LectusException.class,
            e -> assertThat(e.error()).isInstanceOf(LectusError.InDoubt.class));
    assertThat(rows()).isEmpty();
  }

  @Test
  void ids_of_finished_writes_are_cleared_together_later() {
    write(TransactionLimits.DEFAULT);
    faulty.plan(Fault.UNKNOWN_BUT_STORED);
    write(TransactionLimits.DEFAULT);
    assertThat(idsLeft()).isEqualTo(2);
    int before = faulty.commits();

    assertThat(faulty.clearIds()).isTrue();

    assertThat(idsLeft()).isZero();
    assertThat(faulty.clearIds()).isFalse();
    // One clears both, one sweeps.
    assertThat(faulty.commits()).isEqualTo(before + 2);
  }

  @Test
  void closing_clears_what_still_waits() {
    write(TransactionLimits.DEFAULT);

    faulty.store().close();

    assertThat(idsLeft()).isZero();
  }

  @Test
  void what_a_dead_process_left_is_swept_once_it_is_old() {
    write(TransactionLimits.DEFAULT);
    Store nextProcess = new FaultyStore(sound, true).store();
    nextProcess.transactionIds().orElseThrow().sweep();
    assertThat(idsLeft()).isEqualTo(1);

    FaultyStore muchLater = new FaultyStore(sound, true);
    muchLater.goOnBy(TransactionIds.KEPT_VERSIONS + 1);
    muchLater.store().transactionIds().orElseThrow().sweep();
    assertThat(idsLeft()).isZero();
  }

  @Test
  void the_sweep_goes_through_more_ids_than_one_transaction_takes() {
    for (int i = 0; i < 1_001; i++) {
      write(TransactionLimits.DEFAULT);
    }
    FaultyStore muchLater = new FaultyStore(sound, true);
    muchLater.goOnBy(TransactionIds.KEPT_VERSIONS + 1);
    muchLater.store().transactionIds().orElseThrow().sweep();
    assertThat(idsLeft()).isZero();
  }

  @Test
  void no_more_ids_wait_in_memory_than_the_limit() {
    for (int i = 0; i < TransactionIds.MAX_WAITING + 1; i++) {
      ids.finished(ids.next());
    }
    assertThat(ids.finished.size()).isEqualTo(TransactionIds.MAX_WAITING);
  }

  @Test
  void without_the_id_a_write_is_stored_twice() {
    byte[] itsIds = ids.subspace().range().begin;
    faulty.lose(operation -> operation.isBelow(itsIds) && operation.method().equals("mutate"));
    faulty.plan(Fault.UNKNOWN_BUT_STORED);

    write(TransactionLimits.DEFAULT);

    assertThat(rows()).hasSize(2);
  }

  @Test
  void without_the_conflict_of_the_id_an_old_commit_arrives() {
    byte[] itsIds = ids.subspace().range().begin;
    faulty.lose(operation -> operation.isBelow(itsIds) && operation.method().contains("Conflict"));
    faulty.plan(Fault.TIMED_OUT_THEN_OVERTAKEN);

    write(TransactionLimits.DEFAULT);
    faulty.deliver();

    assertThat(rows()).hasSize(2);
  }

  @Test
  void a_store_that_always_tells_pays_for_no_ids() {
    TestStores.onlyEmbedded();
    FaultyStore honest = new FaultyStore(sound);
    TransactionRunner runner = new TransactionRunner(honest.store(), TransactionLimits.DEFAULT);

    runner.run(tx -> append(tx, 1));
    assertThat(idsLeft()).isZero();

    for (Fault fault : List.of(Fault.UNKNOWN_AND_LOST, Fault.TIMED_OUT_AND_LOST)) {
      honest.plan(fault);
      assertThatThrownBy(() -> runner.run(tx -> append(tx, 1)))
          .isInstanceOfSatisfying(
              LectusException.class,
              e -> assertThat(e.error()).isInstanceOf(LectusError.InDoubt.class));
    }
  }

  @Test
  void what_may_be_stored_twice_is_tried_again_without_an_id() {
    faulty.plan(Fault.UNKNOWN_BUT_STORED, Fault.TIMED_OUT_AND_LOST);

    runner(TransactionLimits.DEFAULT).runIdempotent(tx -> append(tx, ++runs));

    assertThat(rows()).hasSize(2);
    assertThat(idsLeft()).isZero();

    faulty.plan(Collections.nCopies(2, Fault.UNKNOWN_AND_LOST).toArray(Fault[]::new));
    assertThatThrownBy(() -> runner(TWICE).runIdempotent(tx -> append(tx, ++runs)))
        .isInstanceOf(FDBException.class);
  }

  @ParameterizedTest
  @EnumSource(names = "IO_ERROR", mode = EnumSource.Mode.EXCLUDE)
  void several_writes_under_way_are_stored_once_each_in_whatever_order_they_are_finished(
      Fault fault) {
    faulty.plan(Fault.NONE, fault, Fault.NONE, fault);
    List<PendingTransaction<CommitResult<Integer>>> underway = new ArrayList<>();
    for (int i = 1; i <= 4; i++) {
      int number = i;
      underway.add(
          runner(TransactionLimits.DEFAULT).begin(tx -> append(tx, number), value -> true));
    }
    Collections.reverse(underway);

    List<CommitResult<Integer>> committed =
        underway.stream().map(PendingTransaction::finish).toList();

    faulty.deliver();
    assertThat(committed).extracting(CommitResult::value).containsExactly(4, 3, 2, 1);
    assertThat(rows())
        .extracting(row -> (int) row.getValue()[0])
        .containsExactlyInAnyOrder(1, 2, 3, 4);
  }

  @Test
  void whoever_has_begun_a_write_learns_when_it_is_answered() {
    CompletableFuture<Void> answer = new CompletableFuture<>();
    faulty.completing(commit -> commit.thenCombine(answer, (done, answered) -> null));
    AtomicInteger told = new AtomicInteger();

    PendingTransaction<CommitResult<Integer>> write =
        runner(TransactionLimits.DEFAULT).begin(tx -> append(tx, 1), value -> true);
    write.whenAnswered(told::incrementAndGet);
    assertThat(write.isCommitted()).isFalse();
    assertThat(told).hasValue(0);

    answer.complete(null);
    Await.until("the answer is told", () -> told.get() == 1);
    assertThat(write.isCommitted()).isTrue();
    assertStoredAs(write.finish());
  }

  @Test
  void what_the_body_throws_comes_out_in_the_end() {
    LectusException conflict = new LectusException(new LectusError.Conflict());
    AtomicInteger told = new AtomicInteger();

    PendingTransaction<CommitResult<Integer>> write =
        runner(TransactionLimits.DEFAULT)
            .begin(
                tx -> {
                  throw conflict;
                },
                value -> true);
    write.whenAnswered(told::incrementAndGet);

    assertThat(told).hasValue(1);
    assertThat(write.isCommitted()).isFalse();
    assertThatThrownBy(write::finish).isSameAs(conflict);
  }

  private CommitResult<Integer> write(TransactionLimits limits) {
    return runner(limits).runVersioned(tx -> append(tx, ++runs));
  }

  private CommitResult<Integer> write(
      TransactionLimits limits, int failingRun, LectusException with) {
    return runner(limits)
        .runVersioned(
            tx -> {
              if (++runs == failingRun) {
                throw with;
              }
              return append(tx, runs);
            });
  }

  private TransactionRunner runner(TransactionLimits limits) {
    return new TransactionRunner(faulty.store(), limits);
  }

  /** Adds a row that names the run that wrote it. */
  private Integer append(Transaction tx, int run) {
    byte[] key = ByteArrayUtil.join(log, Versionstamp.placeholder(0));
    tx.mutate(
        MutationType.SET_VERSIONSTAMPED_KEY,
        Versionstamp.template(key, log.length),
        new byte[] {(byte) run});
    return run;
  }

  private void assertStoredAs(CommitResult<Integer> committed) {
    byte[] stamp = Versionstamp.complete(committed.versionstamp(), 0);
    assertThat(rows())
        .singleElement()
        .satisfies(
            row -> {
              assertThat(row.getKey()).isEqualTo(ByteArrayUtil.join(log, stamp));
              assertThat(row.getValue()).containsExactly(committed.value());
            });
  }

  private List<KeyValue> rows() {
    return read(log);
  }

  private int idsLeft() {
    return read(ids.subspace().range().begin).size();
  }

  private List<KeyValue> read(byte[] prefix) {
    return new TransactionRunner(sound, TransactionLimits.DEFAULT)
        .read(tx -> Awaiting.await(tx.getRange(Range.startsWith(prefix)).asList()));
  }

  private void clear() {
    new TransactionRunner(sound, TransactionLimits.DEFAULT)
        .runIdempotent(
            tx -> {
              tx.clear(Range.startsWith(log));
              return null;
            });
  }
}
