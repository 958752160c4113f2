package lectus.store.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import lectus.store.embedded.AttemptOptions.DatabaseSettings;
import lectus.store.embedded.AttemptOptions.RetryPolicy;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class RetryPolicyTest {
  private static final long MILLI = 1_000_000;
  private final RetryPolicy policy = new RetryPolicy(new DatabaseSettings(), 0);

  private long delayMillis(int code) {
    return policy.delayNanos(code, () -> 1) / MILLI;
  }

  @Test
  void back_off_doubles_up_to_a_second() {
    long[] delays = new long[9];
    for (int i = 0; i < delays.length; i++) {
      delays[i] = delayMillis(1020);
    }

    assertThat(delays).containsExactly(10, 20, 40, 80, 160, 320, 640, 1000, 1000);
  }

  @Test
  void the_delay_is_a_random_part_of_the_back_off() {
    assertThat(policy.delayNanos(1020, () -> 0.25)).isEqualTo(2_500_000);
  }

  @Test
  void back_off_stays_below_the_largest_delay_asked_for() {
    policy.maxDelayMillis = 15;

    assertThat(delayMillis(1020)).isEqualTo(10);
    assertThat(delayMillis(1020)).isEqualTo(15);
    assertThat(delayMillis(1020)).isEqualTo(15);
  }

  @Test
  void a_largest_delay_of_zero_retries_at_once() {
    policy.maxDelayMillis = 0;

    assertThat(delayMillis(1020)).isZero();
  }

  @Test
  void scarce_resources_back_off_up_to_half_a_minute() {
    long last = 0;
    for (int i = 0; i < 13; i++) {
      last = delayMillis(1042);
    }

    assertThat(last).isEqualTo(30_000);
  }

  @Test
  void version_errors_wait_ten_milliseconds_and_do_not_grow() {
    assertThat(delayMillis(1007)).isEqualTo(10);
    assertThat(delayMillis(1009)).isEqualTo(10);
    assertThat(delayMillis(1020)).isEqualTo(10);
  }

  @ParameterizedTest
  @ValueSource(ints = {1007, 1009, 1020, 1021, 1037, 1038, 1042, 1051, 1078, 1079, 1213})
  void retryable_errors_are_retried(int code) {
    assertThat(policy.delayNanos(code, () -> 0)).isNotNegative();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1025, 1031, 1036, 1039, 2000, 2017, 2101, 2102, 2103})
  void others_are_final(int code) {
    assertThat(policy.delayNanos(code, () -> 0)).isNegative();
  }

  @Test
  void a_retry_limit_of_two_ends_with_the_third_error() {
    policy.retryLimit = 2;

    assertThat(policy.delayNanos(1020, () -> 1)).isPositive();
    assertThat(policy.delayNanos(1020, () -> 1)).isPositive();
    assertThat(policy.delayNanos(1020, () -> 1)).isNegative();
  }

  @Test
  void time_is_counted_from_the_creation() {
    policy.timeoutMillis = 100;

    assertThat(policy.nanosLeft(99 * MILLI)).isEqualTo(MILLI);
    assertThat(policy.nanosLeft(100 * MILLI)).isZero();
  }
}
