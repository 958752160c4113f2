package lectus.http.limits;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.atomic.AtomicBoolean;
import lectus.error.LectusError;
import lectus.error.LectusException;
import org.junit.jupiter.api.Test;

final class MemoryAccountTest {
  private static final long LARGE = MemoryAccount.SMALL_BYTES + 1;
  private static final long LIMIT = 100 * LARGE;

  private final MemoryAccount memory = new MemoryAccount(LIMIT, "Too much is held.");

  @Test
  void holders_share_it_up_to_its_limit() {
    memory.reserve(60 * LARGE, 0);
    memory.reserve(40 * LARGE, 0);
    assertThat(memory.tryReserve(LARGE, 0)).isFalse();
    assertThatThrownBy(() -> memory.reserve(LARGE, 0))
        .isInstanceOfSatisfying(
            LectusException.class,
            refused -> assertThat(refused.error()).isInstanceOf(LectusError.Unavailable.class));
    assertThat(memory.held()).isEqualTo(LIMIT);
    memory.release(40 * LARGE, 40 * LARGE);
    memory.reserve(40 * LARGE, 60 * LARGE);
  }

  @Test
  void one_holder_alone_is_always_given_more() {
    memory.reserve(LIMIT, 0);
    memory.reserve(LIMIT, LIMIT);
    assertThat(memory.tryReserve(LARGE, 0)).isFalse();
    memory.release(2 * LIMIT, 2 * LIMIT);
    memory.reserve(2 * LIMIT, 0);
  }

  @Test
  void those_who_hold_little_have_an_eighth_of_their_own() {
    memory.reserve(2 * LIMIT, 0);
    assertThat(memory.tryReserve(LARGE, 0)).isFalse();
    int small = 0;
    while (memory.tryReserve(LARGE - 1, 0)) {
      small++;
    }
    long most = Math.max(1 << 20, LIMIT / 8);
    assertThat(small).isEqualTo((int) (most / (LARGE - 1)));
    assertThat(memory.held()).isEqualTo(2 * LIMIT + small * (LARGE - 1));
  }

  @Test
  void many_who_hold_little_leave_half_as_much_to_those_who_hold_hardly_anything() {
    memory.reserve(2 * LIMIT, 0);
    while (memory.tryReserve(LARGE - 1, 0)) {
      // As many as possible.
    }
    int smallest = MemoryAccount.TINY_BYTES + 1;
    while (memory.tryReserve(smallest, 0)) {
      // Until not even a small one fits.
    }
    long before = memory.held();
    int tiny = 0;
    while (memory.tryReserve(MemoryAccount.TINY_BYTES, 0)) {
      tiny++;
    }

    assertThat(tiny).isEqualTo((1 << 19) / MemoryAccount.TINY_BYTES);
    assertThat(memory.tryReserve(1, 0)).isFalse();
    assertThat(memory.tryReserve(smallest, MemoryAccount.TINY_BYTES)).isFalse();
    memory.release(1_000, MemoryAccount.TINY_BYTES);
    assertThat(memory.tryReserve(1_000, 0)).isTrue();
    assertThat(memory.held()).isEqualTo(before + (1 << 19));
  }

  @Test
  void those_who_hold_little_have_all_that_nobody_else_has() {
    for (int i = 0; i < 100; i++) {
      memory.reserve(LARGE - 1, 0);
    }
    assertThat(memory.held()).isGreaterThan(LIMIT / 2);
    assertThat(memory.tryReserve(LARGE - 1, 0)).isFalse();
  }

  @Test
  void a_holder_that_grows_and_shrinks_gives_back_what_it_took() {
    memory.reserve(LARGE - 1, 0);
    memory.reserve(10, LARGE - 1);
    memory.release(20, LARGE + 9);
    memory.reserve(1_000, LARGE - 11);
    memory.release(LARGE + 989, LARGE + 989);
    assertThat(memory.held()).isZero();
    memory.reserve(LIMIT, 0);
    assertThat(memory.tryReserve(LARGE, 0)).isFalse();
  }

  @Test
  void nobody_is_refused_while_a_large_holder_gives_back_a_little() throws Exception {
    long much = 60 * LARGE;
    memory.reserve(much, 0);
    AtomicBoolean done = new AtomicBoolean();
    Thread holder =
        new Thread(
            () -> {
              while (!done.get()) {
                memory.release(1, much);
                memory.take(1, much - 1);
              }
            });
    holder.start();
    int refused = 0;
    for (int i = 0; i < 1_000_000; i++) {
      if (memory.tryReserve(10 * LARGE, 0)) {
        memory.release(10 * LARGE, 10 * LARGE);
      } else {
        refused++;
      }
    }
    done.set(true);
    holder.join();

    assertThat(refused).isZero();
    assertThat(memory.held()).isEqualTo(much);
  }
}
