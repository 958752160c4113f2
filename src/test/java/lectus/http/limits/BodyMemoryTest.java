package lectus.http.limits;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.http.limits.BodyMemory.Share;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

final class BodyMemoryTest {
  private static final long MB = 1 << 20;
  private static final long LIMIT = 100 * MB;
  private static final long SMALL = MemoryAccount.SMALL_BYTES;
  private static final long TINY = MemoryAccount.TINY_BYTES;

  private final AtomicLong nanos = new AtomicLong();
  private final BodyMemory memory = new BodyMemory(LIMIT, "Too much is held.", nanos::get);

  /** Who was given room after a wait, in order. */
  private final List<String> granted = new ArrayList<>();

  private static final long LARGE = 1 << 20;
  private final MemoryAccount account = new MemoryAccount(3 * LARGE, "Too much is held.");
  private final PageMemory pages = new PageMemory(account);

  private Share holding(long bytes) {
    Share share = memory.share();
    assertThat(share.tryGrow(bytes)).isTrue();
    return share;
  }

  private boolean asks(Share share, long bytes, String client, String name) {
    return share.growOrWait(bytes, () -> client, () -> granted.add(name));
  }

  private Share waiting(long bytes, String client, String name) {
    Share share = memory.share();
    assertThat(asks(share, bytes, client, name)).isFalse();
    return share;
  }

  @Test
  void holders_share_it_up_to_its_limit_and_others_wait_for_what_they_give_back() {
    Share much = holding(60 * MB);
    assertThat(asks(memory.share(), 40 * MB, "a", "fits")).isTrue();
    waiting(MB, "a", "waits");
    assertThat(memory.waiting()).isEqualTo(1);
    much.shrink(MB - 1);
    assertThat(granted).isEmpty();
    much.shrink(1);
    assertThat(granted).containsExactly("waits");
    assertThat(memory.waiting()).isZero();
    assertThat(memory.held()).isEqualTo(LIMIT);
  }

  @Test
  void one_large_holder_alone_is_given_whatever_it_needs() {
    Share alone = holding(LIMIT);
    assertThat(alone.tryGrow(LIMIT)).isTrue();
    waiting(MB, "a", "waits");
    alone.shrink(LIMIT);
    assertThat(granted).isEmpty();
    alone.close();
    assertThat(granted).containsExactly("waits");
    assertThat(memory.held()).isEqualTo(MB);
  }

  @Test
  void those_who_hold_little_have_an_eighth_of_their_own_and_the_least_half_as_much() {
    holding(2 * LIMIT);
    int small = 0;
    while (memory.share().tryGrow(SMALL)) {
      small++;
    }
    assertThat(small).isEqualTo((int) (LIMIT / 8 / SMALL));
    int tiny = 0;
    while (memory.share().tryGrow(TINY)) {
      tiny++;
    }
    assertThat(tiny).isEqualTo((int) (LIMIT / 16 / TINY));
    assertThat(memory.held()).isEqualTo(2 * LIMIT + small * SMALL + tiny * TINY);
  }

  @Test
  void those_who_hold_little_have_all_that_nobody_else_has() {
    int small = 0;
    while (memory.share().tryGrow(SMALL)) {
      small++;
    }
    assertThat(small * SMALL).isEqualTo(LIMIT + LIMIT / 8);
  }

  @Test
  void a_holder_that_grows_and_shrinks_gives_back_what_it_took() {
    Share share = holding(TINY);
    assertThat(share.tryGrow(SMALL - TINY)).isTrue();
    assertThat(share.tryGrow(MB)).isTrue();
    share.shrink(MB);
    share.shrink(SMALL - 10);
    assertThat(memory.held()).isEqualTo(10);
    share.close();
    share.close();
    assertThat(memory.held()).isZero();
    assertThat(share.tryGrow(1)).isFalse();
  }

  /** The first needs 20 MB more; those that the second leaves. */
  @Test
  void one_gets_more_only_if_all_can_still_get_what_they_need() {
    Share first = memory.share();
    first.expects(60 * MB);
    assertThat(first.tryGrow(40 * MB)).isTrue();
    Share second = memory.share();
    second.expects(70 * MB);
    assertThat(second.tryGrow(40 * MB)).isTrue();
    assertThat(asks(second, 1, "b", "second")).isFalse();
    assertThat(first.tryGrow(20 * MB)).isTrue();
    assertThat(granted).isEmpty();
    first.close();
    assertThat(granted).containsExactly("second");
  }

  @Test
  void who_holds_little_of_what_it_needs_leaves_the_rest_to_others() {
    for (int i = 0; i < 20; i++) {
      Share slow = memory.share();
      slow.expects(50 * MB);
      assertThat(slow.tryGrow(MB)).isTrue();
    }
    Share quick = memory.share();
    quick.expects(80 * MB);
    assertThat(quick.tryGrow(MB)).isTrue();
    assertThat(quick.tryGrow(79 * MB)).isTrue();
  }

  /** Each is thought to need four times what it has, and both need more. */
  @Test
  void the_oldest_goes_on_if_all_wait() {
    Share first = memory.share();
    Share second = memory.share();
    first.expects(BodyMemory.UNKNOWN);
    second.expects(BodyMemory.UNKNOWN);
    assertThat(second.tryGrow(20 * MB)).isTrue();
    assertThat(first.tryGrow(20 * MB)).isTrue();
    assertThat(asks(second, 60 * MB, "b", "second")).isFalse();
    assertThat(asks(first, 60 * MB, "a", "first")).isFalse();
    assertThat(granted).containsExactly("first");
    assertThat(asks(first, 60 * MB, "a", "first again")).isFalse();
    assertThat(granted).containsExactly("first", "first again");
    first.close();
    assertThat(granted).containsExactly("first", "first again", "second");
  }

  @Test
  void clients_take_turns() {
    Share all = holding(LIMIT);
    List<Share> waiting = new ArrayList<>();
    for (String name : List.of("a1", "a2", "a3", "b1")) {
      waiting.add(waiting(LIMIT, name.substring(0, 1), name));
    }
    all.close();
    assertThat(granted).containsExactly("a1");
    waiting.get(0).close();
    assertThat(granted).containsExactly("a1", "b1");
    waiting.get(3).close();
    waiting.get(1).close();
    assertThat(granted).containsExactly("a1", "b1", "a2", "a3");
  }

  @Test
  void who_needs_more_than_there_is_is_passed_over_for_two_seconds() {
    Share all = holding(LIMIT);
    waiting(50 * MB, "a", "much");
    waiting(MB, "b", "little");
    nanos.addAndGet(TimeUnit.SECONDS.toNanos(2) - 1);
    all.shrink(MB);
    assertThat(granted).containsExactly("little");
    waiting(MB, "c", "late");
    nanos.addAndGet(1);
    all.shrink(48 * MB);
    assertThat(granted).containsExactly("little");
    all.shrink(2 * MB);
    assertThat(granted).containsExactly("little", "much");
    all.close();
    assertThat(granted).containsExactly("little", "much", "late");
  }

  @Test
  void a_small_request_does_not_wait_for_a_large_one_of_its_client() {
    Share all = holding(LIMIT);
    waiting(MB, "a", "large");
    assertThat(asks(memory.share(), SMALL, "a", "small")).isTrue();
    assertThat(granted).isEmpty();
    all.close();
  }

  @Test
  void who_waits_no_longer_is_given_nothing() {
    Share all = holding(LIMIT);
    Share first = waiting(MB, "a", "first");
    Share second = waiting(MB, "a", "second");
    Share third = waiting(MB, "b", "third");
    assertThat(first.giveUp()).isTrue();
    assertThat(first.giveUp()).isFalse();
    second.close();
    all.close();
    assertThat(granted).containsExactly("third");
    assertThat(third.giveUp()).isFalse();
    assertThat(memory.held()).isEqualTo(MB);
    assertThat(memory.refusal().error()).isInstanceOf(LectusError.Unavailable.class);
  }

  /** Its share may be small. */
  @Test
  void a_client_that_holds_more_than_half_keeps_others_waiting_but_not_itself() {
    List<Share> small = new ArrayList<>();
    for (int i = 0; i * SMALL < LIMIT + LIMIT / 8; i++) {
      Share share = memory.share();
      assertThat(asks(share, SMALL, i * SMALL < 70 * MB ? "a" : "b", "")).isTrue();
      small.add(share);
    }
    Share ofA = small.get(0);
    Share ofB = small.get(small.size() - 1);
    assertThat(ofA.keepsOthersWaiting()).isFalse();
    waiting(SMALL, "a", "a");
    assertThat(ofA.keepsOthersWaiting()).isFalse();
    waiting(SMALL, "b", "b");
    assertThat(ofA.keepsOthersWaiting()).isTrue();
    assertThat(ofB.keepsOthersWaiting()).isFalse();
    ofA.close();
    ofB.close();
    assertThat(granted).containsExactly("a", "b");
    small.forEach(Share::close);
    assertThat(memory.held()).isEqualTo(2 * SMALL);
  }

  @Test
  void a_client_that_has_given_everything_back_is_counted_again() {
    Share first = memory.share();
    assertThat(asks(first, 60 * MB, "a", "")).isTrue();
    Share second = memory.share();
    assertThat(asks(second, SMALL, "a", "")).isTrue();
    second.shrink(SMALL);
    first.shrink(60 * MB);
    assertThat(first.tryGrow(SMALL)).isTrue();
    assertThat(second.tryGrow(LIMIT)).isTrue();
    second.shrink(LIMIT - 60 * MB);
    holding(40 * MB);
    waiting(MB, "b", "b");

    assertThat(first.keepsOthersWaiting()).isTrue();
    second.shrink(20 * MB);
    waiting(60 * MB, "b", "b again");
    assertThat(first.keepsOthersWaiting()).isFalse();
  }

  @Test
  void who_is_given_memory_is_told_even_if_another_cannot_be() {
    Share all = holding(LIMIT);
    Share first = memory.share();
    assertThat(
            first.growOrWait(
                MB,
                () -> "a",
                () -> {
                  throw new OutOfMemoryError("none for this one");
                }))
        .isFalse();
    waiting(MB, "b", "second");
    all.close();

    assertThat(granted).containsExactly("second");
    assertThat(memory.held()).isEqualTo(2 * MB);
    assertThat(first.giveUp()).isFalse();
    first.close();
    assertThat(memory.held()).isEqualTo(MB);
  }

  private static void assertRefused(Runnable step, Class<? extends LectusError> error) {
    assertThatThrownBy(step::run)
        .isInstanceOfSatisfying(
            LectusException.class, refused -> assertThat(refused.error()).isInstanceOf(error));
  }

  @Test
  void one_request_alone_is_parsed_into_four_times_the_limit() {
    ParsedMemory parsed = holding(50 * MB).parsing(50 * MB);
    parsed.add(300 * MB);
    parsed.add(100 * MB);
    assertRefused(() -> parsed.add(1), LectusError.TooLarge.class);

    BodyMemory little = new BodyMemory(1, "Too much is held.");
    ParsedMemory small = little.share().parsing(0);
    small.add(56 * MB);
    assertRefused(() -> small.add(1), LectusError.TooLarge.class);
  }

  @Test
  void what_is_parsed_counts_beyond_four_times_its_body() {
    Share share = holding(20 * MB);
    ParsedMemory parsed = share.parsing(20 * MB);
    parsed.add(80 * MB);
    Share other = holding(80 * MB);
    assertRefused(() -> parsed.add(MB), LectusError.Unavailable.class);
    assertThat(parsed.missing()).isGreaterThanOrEqualTo(MB / 4);

    assertThat(asks(share, parsed.missing(), "a", "parsed")).isFalse();
    other.close();
    assertThat(granted).containsExactly("parsed");
    parsed.again();
    parsed.add(81 * MB);
    assertThat(parsed.missing()).isZero();
    share.close();
    assertThat(memory.held()).isZero();
  }

  @Test
  void a_page_is_reserved_by_the_last_ones_length_and_counted_with_its_own() {
    assertThat(pages.hasRoom()).isTrue();
    assertThat(account.held()).isEqualTo(MemoryAccount.SMALL_BYTES);
    pages.sends(LARGE);
    assertThat(account.held()).isEqualTo(LARGE);
    assertThat(pages.hasRoom()).isTrue();
    assertThat(pages.hasRoom()).isTrue();
    assertThat(account.held()).isEqualTo(2 * LARGE);
    pages.sends(10);
    assertThat(account.held()).isEqualTo(LARGE + 10);
    pages.taken(LARGE);
    pages.taken(10);
    assertThat(account.held()).isZero();
  }

  @Test
  void there_is_no_room_while_others_hold_too_much() {
    pages.sends(LARGE);
    pages.taken(LARGE);
    account.reserve(2 * LARGE, 0);
    assertThat(pages.hasRoom()).isTrue();
    pages.noneComes();
    account.reserve(1, 2 * LARGE);
    assertThat(pages.hasRoom()).isFalse();
    assertThat(account.held()).isEqualTo(2 * LARGE + 1);
  }

  @Test
  void a_feed_of_small_rows_waits_for_nobody() {
    account.reserve(3 * LARGE, 0);
    for (int page = 0; page < 10; page++) {
      assertThat(pages.hasRoom()).isTrue();
      pages.sends(100);
      pages.taken(100);
    }
    assertThat(account.held()).isEqualTo(3 * LARGE);
  }

  @Test
  void a_page_longer_than_expected_is_sent_if_there_is_memory_for_it() {
    account.reserve(2 * LARGE, 0);
    assertThat(pages.hasRoom()).isTrue();
    assertThat(pages.hasRoomFor(LARGE)).isTrue();
    assertThat(account.held()).isEqualTo(3 * LARGE);
    pages.sends(LARGE);
    pages.taken(LARGE);
    assertThat(account.held()).isEqualTo(2 * LARGE);
  }

  @Test
  void a_page_for_which_there_is_no_memory_is_read_again_when_there_is() {
    account.reserve(2 * LARGE, 0);
    assertThat(pages.hasRoom()).isTrue();
    assertThat(pages.hasRoomFor(LARGE + 1)).isFalse();
    assertThat(account.held()).isEqualTo(2 * LARGE);
    assertThat(pages.hasRoom()).isFalse();
    account.release(1, 2 * LARGE);
    assertThat(pages.hasRoom()).isTrue();
    assertThat(pages.hasRoomFor(LARGE + 1)).isTrue();
  }

  @Nested
  class Accounts {
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
}
