package lectus.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import lectus.store.testing.TimedStore;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Servers of one store, which share its buckets out among themselves. */
final class BucketsTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private final Store store = stores.fresh();
  private final Buckets one = new Buckets(store);
  private final Buckets two = new Buckets(store);

  private final TransactionRunner transactions =
      new TransactionRunner(store, TransactionLimits.DEFAULT);

  @Test
  void a_server_that_is_alone_has_all_of_them() {
    assertThat(one.look()).hasSize(Buckets.COUNT);
    assertThat(one.look()).hasSize(Buckets.COUNT);
  }

  @Test
  void a_second_server_gets_its_half() {
    Map<Integer, Fence> before = one.look();
    assertThat(two.look()).isEmpty();

    Map<Integer, Fence> kept = one.look();
    assertThat(kept).hasSize(Buckets.COUNT / 2);
    assertThat(before.values()).allMatch(this::holds);
    // What it was to leave it has left with this look.
    assertThat(one.look()).hasSize(Buckets.COUNT / 2);

    Map<Integer, Fence> taken = two.look();
    Set<Integer> all = new HashSet<>(kept.keySet());
    all.addAll(taken.keySet());
    assertThat(taken).hasSize(Buckets.COUNT / 2);
    assertThat(all).hasSize(Buckets.COUNT);
    kept.values().forEach(it -> assertThat(holds(it)).isTrue());
  }

  @Test
  void what_a_silent_server_had_is_another_s_and_its_fences_are_lost() {
    Map<Integer, Fence> former = one.look();

    Await.until("the other has taken all", () -> two.look().size() == Buckets.COUNT);

    assertThat(former.values()).noneMatch(this::holds);
    // The silent one comes back, and gets its part again.
    assertThat(one.look()).isEmpty();
    Await.until("both have a half", () -> two.look().size() == 32 && one.look().size() == 32);
  }

  @Test
  void what_is_given_back_is_taken_at_once() {
    Map<Integer, Fence> former = one.look();

    one.giveBack();

    assertThat(former.values()).noneMatch(this::holds);
    assertThat(two.look()).hasSize(Buckets.COUNT);
  }

  @Test
  void a_bucket_that_is_taken_again_has_another_fence() {
    Map<Integer, Fence> former = one.look();
    one.giveBack();

    Map<Integer, Fence> again = one.look();

    assertThat(again).hasSize(Buckets.COUNT);
    assertThat(former.values()).noneMatch(this::holds);
  }

  private boolean holds(Fence fence) {
    return transactions.read(tx -> Awaiting.await(fence.holds(tx)));
  }

  /** Two servers take turns, in a store whose time is moved on. */
  @Nested
  class Rounds {
    private static final LeaseSubspace.Claim CLAIM = new LeaseSubspace.Claim(new byte[16], 1_000);

    @TempDir Path folder;

    private final AtomicLong nanos = new AtomicLong();

    @AutoClose private TimedStore time;

    private LeasedRounds one;

    private LeasedRounds other;

    private int begun;

    @BeforeAll
    static void onlyEmbedded() {
      TestStores.onlyEmbedded();
    }

    @BeforeEach
    void open() {
      time = new TimedStore(folder);
      one = new LeasedRounds(time.store, "task", nanos::get);
      other = new LeasedRounds(time.store, "task", nanos::get);
    }

    private boolean begins(LeasedRounds rounds) {
      int before = begun;
      boolean begins = rounds.begin(tx -> begun++);
      assertThat(begun > before).isEqualTo(begins);
      return begins;
    }

    private void passIdly(long seconds) {
      time.passUnnoticed(seconds);
      nanos.addAndGet(seconds * 1_000_000_000);
    }

    @Test
    void one_works_as_long_as_it_renews_its_lease() {
      assertThat(begins(one)).isTrue();
      for (int i = 0; i < 10; i++) {
        assertThat(begins(other)).isFalse();
        assertThat(other.goesOn()).isFalse();
        time.pass(9);
        assertThat(one.goesOn()).isTrue();
      }
    }

    @Test
    void the_other_begins_ten_seconds_after_the_first_was_killed() {
      begins(one);
      time.pass(9);
      assertThat(begins(other)).isFalse();
      time.pass(2);
      assertThat(begins(other)).isTrue();

      assertThat(one.goesOn()).as("one was only asleep").isFalse();
      one.end();
      assertThat(begins(other)).as("the round goes on").isTrue();
    }

    @Test
    void a_round_is_due_five_minutes_after_the_last_whoever_it_was() {
      begins(one);
      one.end();
      time.pass(299);
      assertThat(begins(one)).isFalse();
      assertThat(begins(other)).isFalse();
      time.pass(2);
      assertThat(begins(other)).isTrue();
      assertThat(begins(one)).isFalse();
    }

    @Test
    void the_other_goes_on_at_once_when_the_first_gives_its_lease_back() {
      begins(one);
      one.giveBack();
      assertThat(begins(other)).isTrue();
    }

    @Test
    void rounds_go_on_though_nobody_else_writes() {
      begins(one);
      one.end();
      passIdly(59);
      assertThat(begins(one)).isFalse();
      passIdly(242);
      assertThat(begins(one)).as("it commits").isFalse();
      assertThat(begins(one)).isTrue();
    }

    @Test
    void a_killed_one_is_replaced_though_nobody_else_writes() {
      begins(one);
      passIdly(11);
      assertThat(begins(other)).as("it commits").isFalse();
      assertThat(begins(other)).isTrue();
    }

    @Test
    void a_process_that_has_ended_holds_nothing_in_an_embedded_store() {
      begins(one);
      time.close();
      open();
      assertThat(begins(other)).isTrue();
      assertThat(begins(one)).as("the other one is of this process").isFalse();
      other.end();
      time.close();
      open();
      time.pass(200);
      assertThat(begins(other)).as("a round that has ended is no holder's").isFalse();
    }

    @Test
    void a_lease_lasts_as_many_versions_as_it_lives() {
      assertThat(CLAIM.isYoungerThan(500, 1_000)).isTrue();
      assertThat(CLAIM.isYoungerThan(500, 1_500)).isTrue();
      assertThat(CLAIM.isYoungerThan(500, 1_501)).isFalse();
    }

    @Test
    void a_lease_of_another_store_s_future_is_nobody_s() {
      assertThat(CLAIM.isYoungerThan(500, 999)).isFalse();
    }

    @Test
    void what_was_written_is_read() {
      LeaseSubspace.Claim read = LeaseSubspace.claim(LeaseSubspace.value(CLAIM));
      assertThat(read.isOf(new byte[16])).isTrue();
      assertThat(read.isOf(new byte[] {1})).isFalse();
      assertThat(read.version()).isEqualTo(1_000);
    }
  }
}
