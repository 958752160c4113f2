package lectus.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The time limits of transactions, in seconds. */
final class ReadTimeoutTest {
  private static final Duration MOST = Duration.ofSeconds(30);

  @ParameterizedTest
  @CsvSource({"40, 0, 30", "10, 0, 10", "10, 4, 6", "10, 9, 1", "10, 10, 1", "10, 12, 1"})
  void a_transaction_has_what_is_left_and_never_too_little(int whole, int waited, int expected)
      throws Exception {
    Duration limit =
        ReadTimeout.during(
            Duration.ofSeconds(whole), Duration.ofSeconds(waited), () -> ReadTimeout.limit(MOST));
    assertThat(limit).isEqualTo(Duration.ofSeconds(expected));
  }

  @Test
  void work_that_goes_on_has_the_whole_time_again() throws Exception {
    Duration limit =
        ReadTimeout.during(
            Duration.ofSeconds(10),
            Duration.ofSeconds(8),
            () -> {
              ReadTimeout.answered();
              return ReadTimeout.limit(MOST);
            });
    assertThat(limit).isEqualTo(Duration.ofSeconds(10));
  }

  @Test
  void whoever_has_less_time_keeps_to_it() throws Exception {
    Duration least = Duration.ofMillis(200);
    assertThat(
            ReadTimeout.during(
                Duration.ofSeconds(10), Duration.ofSeconds(10), () -> ReadTimeout.limit(least)))
        .isEqualTo(least);
    assertThat(ReadTimeout.limit(MOST)).isEqualTo(MOST);
  }
}
