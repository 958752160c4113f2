package lectus.account;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class KnownAccountsTest {
  private static final int NAMES = 4_000;
  private static final int LONG = 8_000;

  private final KnownAccounts known =
      new KnownAccounts(name -> Optional.empty(), Runnable::run, () -> 0);

  private long keptOf(String tail) {
    IntStream.range(0, NAMES).forEach(number -> known.look(number + tail));
    return IntStream.range(0, NAMES)
        .filter(number -> known.recall(number + tail).isPresent())
        .count();
  }

  @Test
  void names_that_do_not_exist_take_no_more_memory_if_they_are_long() {
    assertThat(keptOf("")).isEqualTo(NAMES);
    assertThat(keptOf("x".repeat(LONG)) * LONG).isLessThan(12 << 20);
  }
}
