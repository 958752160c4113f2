package lectus.changes.notify;

import static org.assertj.core.api.Assertions.assertThat;

import lectus.changes.notify.ListenerRegistry.CommitClock;
import org.junit.jupiter.api.Test;

final class CommitClockTest {
  private static final long SECOND = 1_000_000_000;

  private final CommitClock clock = new CommitClock();

  @Test
  void versions_before_a_known_one_are_a_microsecond_older_each() {
    clock.reached(50_000_000);

    long age = clock.ageNanos(50_000_000);
    assertThat(age).isGreaterThanOrEqualTo(0);
    assertThat(clock.ageNanos(40_000_000)).isGreaterThanOrEqualTo(10 * SECOND + age);
  }

  @Test
  void nothing_is_younger_than_now_or_older_than_a_day() {
    clock.reached(1L << 60);

    assertThat(clock.ageNanos(Long.MAX_VALUE)).isZero();
    assertThat(clock.ageNanos(0)).isEqualTo(24 * 3_600 * SECOND);
  }

  @Test
  void an_earlier_version_that_is_heard_of_late_changes_nothing() {
    clock.reached(50_000_000);
    clock.reached(10_000_000);

    assertThat(clock.ageNanos(10_000_000)).isGreaterThanOrEqualTo(40 * SECOND);
  }
}
