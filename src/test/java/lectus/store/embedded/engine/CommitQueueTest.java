package lectus.store.embedded.engine;

import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.FDBException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import lectus.store.embedded.engine.CommitQueue.GroupLimits;
import lectus.store.embedded.engine.CommitQueue.PendingCommit;
import lectus.store.embedded.engine.CommitRequest.CommitReceipt;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

class CommitQueueTest {
  private static final GroupLimits LIMITS = new GroupLimits(1024, 16 << 20, 64 << 20);
  private static final int OFFERERS = 8;
  private static final int OFFERS = 20_000;

  @AutoClose("shutdownNow")
  private final ExecutorService executor = Executors.newCachedThreadPool();

  private final AtomicBoolean working = new AtomicBoolean();
  private final AtomicInteger overlaps = new AtomicInteger();
  private final AtomicInteger seen = new AtomicInteger();

  @Test
  void only_one_thread_works_at_a_time() throws InterruptedException {
    CommitQueue queue = new CommitQueue(LIMITS, executor, this::work);
    List<Thread> offerers = new ArrayList<>();
    for (int i = 0; i < OFFERERS; i++) {
      Thread offerer =
          new Thread(
              () -> {
                for (int n = 0; n < OFFERS; n++) {
                  PendingCommit commit = pending();
                  queue.offer(commit);
                  if (n % 16 == 0) {
                    queue.tryTurn(() -> work(List.of()));
                  }
                  // A few at a time, so that the queue repeatedly runs empty.
                  if (n % 3 == 0) {
                    commit.future().join();
                  }
                }
              });
      offerers.add(offerer);
      offerer.start();
    }
    for (Thread offerer : offerers) {
      offerer.join();
    }
    while (!queue.isIdle()) {
      Thread.onSpinWait();
    }

    assertThat(overlaps).hasValue(0);
    assertThat(seen).hasValue(OFFERERS * OFFERS);
  }

  @Test
  void offers_beyond_the_limit_are_refused_until_some_are_worked_off() {
    TurnedByHand hand = new TurnedByHand();
    PendingCommit sample = pending();
    GroupLimits limits = new GroupLimits(1024, 16 << 20, 3 * sample.bytes());
    CommitQueue queue = new CommitQueue(limits, hand, this::work);
    for (int i = 0; i < 3; i++) {
      assertThat(queue.offer(pending())).isTrue();
    }
    assertThat(queue.offer(pending())).isFalse();

    hand.run();

    assertThat(seen).hasValue(3);
    assertThat(queue.offer(pending())).isTrue();
  }

  @Test
  void commit_larger_than_all_limits_goes_alone() {
    TurnedByHand hand = new TurnedByHand();
    List<Integer> groups = new ArrayList<>();
    GroupLimits limits = new GroupLimits(10, 1, 1 << 20);
    CommitQueue queue =
        new CommitQueue(
            limits,
            hand,
            group -> {
              groups.add(group.size());
              group.forEach(commit -> commit.accept(new CommitReceipt(1, 0)));
            });
    queue.offer(pending());
    queue.offer(pending());
    hand.run();

    assertThat(groups).containsExactly(1, 1);
  }

  @Test
  void whatever_is_thrown_ends_its_own_group_alone() {
    TurnedByHand hand = new TurnedByHand();
    GroupLimits limits = new GroupLimits(1, 1 << 20, 64 << 20);
    CommitQueue queue =
        new CommitQueue(
            limits,
            hand,
            group -> {
              if (seen.getAndIncrement() == 0) {
                throw new OutOfMemoryError("of this test");
              }
              group.forEach(commit -> commit.accept(new CommitReceipt(1, 0)));
            });
    PendingCommit first = pending();
    PendingCommit second = pending();
    queue.offer(first);
    queue.offer(second);
    hand.run();

    assertThat(first.future())
        .failsWithin(Duration.ZERO)
        .withThrowableThat()
        .withRootCauseInstanceOf(FDBException.class)
        .withMessageContaining("may or may not");
    assertThat(second.future()).isCompleted();
    assertThat(queue.isIdle()).isTrue();
    PendingCommit third = pending();
    queue.offer(third);
    hand.run();
    assertThat(third.future()).isCompleted();
  }

  @Test
  void without_a_thread_the_committer_works_on_its_callers() {
    CommitQueue queue =
        new CommitQueue(
            LIMITS,
            task -> {
              throw new OutOfMemoryError("unable to create native thread");
            },
            this::work);
    PendingCommit commit = pending();
    queue.offer(commit);

    assertThat(commit.future()).isCompleted();
    assertThat(queue.isIdle()).isTrue();
  }

  @Test
  void answer_that_fails_leaves_the_others_of_its_group_theirs() {
    TurnedByHand hand = new TurnedByHand();
    CommitQueue queue = new CommitQueue(LIMITS, hand, this::work);
    PendingCommit first = pending();
    PendingCommit second = pending();
    first
        .future()
        .thenRun(
            () -> {
              throw new OutOfMemoryError("of this test");
            });
    queue.offer(first);
    queue.offer(second);
    hand.run();

    assertThat(second.future()).isCompleted();
    assertThat(queue.isIdle()).isTrue();
  }

  private void work(List<PendingCommit> group) {
    if (!working.compareAndSet(false, true)) {
      overlaps.incrementAndGet();
    }
    seen.addAndGet(group.size());
    group.forEach(commit -> commit.accept(new CommitReceipt(seen.get(), 0)));
    working.set(false);
  }

  private static PendingCommit pending() {
    return new PendingCommit(Commits.commit().set("k", "v").request(), CoveredKeys.NONE);
  }
}
