package lectus.http.limits;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class PageMemoryTest {
  private static final long LARGE = 1 << 20;

  private final MemoryAccount account = new MemoryAccount(3 * LARGE, "Too much is held.");
  private final PageMemory pages = new PageMemory(account);

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
}
