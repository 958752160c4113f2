package lectus.http.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import lectus.error.LectusError;
import lectus.error.LectusException;
import org.junit.jupiter.api.Test;

final class ParsedMemoryTest {
  private static final long MB = 1 << 20;

  private final MemoryAccount memory = new MemoryAccount(10 * MB, "Too much is held.");

  private void assertRefused(Runnable step, Class<? extends LectusError> error) {
    assertThatThrownBy(step::run)
        .isInstanceOfSatisfying(
            LectusException.class, refused -> assertThat(refused.error()).isInstanceOf(error));
  }

  @Test
  void one_request_alone_takes_four_times_the_budget() {
    memory.reserve(5 * MB, 0);
    ParsedMemory parsed = memory.parsing(5 * MB);
    parsed.add(30 * MB);
    parsed.add(10 * MB);
    assertRefused(() -> parsed.add(1), LectusError.TooLarge.class);

    ParsedMemory small = new MemoryAccount(1, "Too much is held.").parsing(0);
    small.add(32 * MB);
    assertRefused(() -> small.add(1), LectusError.TooLarge.class);
  }

  @Test
  void what_a_body_grows_beyond_four_times_is_counted_and_given_back() {
    memory.reserve(2 * MB, 0);
    ParsedMemory parsed = memory.parsing(2 * MB);
    parsed.add(8 * MB);
    memory.reserve(8 * MB, 0);
    assertRefused(() -> parsed.add(MB), LectusError.Unavailable.class);
    memory.release(8 * MB, 8 * MB);
    parsed.add(7 * MB);
    assertRefused(() -> memory.reserve(7 * MB, 0), LectusError.Unavailable.class);

    parsed.release();
    memory.reserve(8 * MB, 0);
  }
}
