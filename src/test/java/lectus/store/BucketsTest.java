package lectus.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

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
}
