package lectus.changes.notify;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Set;
import lectus.changes.notify.ListenerRegistry.CommitClock;
import lectus.changes.notify.StorePoll.PollSchedule;
import lectus.changes.notify.StorePoll.PollSettings;
import org.junit.jupiter.api.Test;

final class PollScheduleTest {
  private static final String ONE = "one";
  private static final String TWO = "two";

  private long now = Long.MAX_VALUE - 1_000_000;
  private final PollSchedule<String> schedule =
      new PollSchedule<>(
          new PollSettings(Duration.ofMillis(100), Duration.ofMillis(1_000)), () -> now);
  private static final long SECOND = 1_000_000_000;
  private final CommitClock clock = new CommitClock();

  private void pass(long millis) {
    now += Duration.ofMillis(millis).toNanos();
  }

  /** Returns the pause before the next poll, which finds this. */
  private long pauseBefore(boolean moved) {
    long pause = schedule.untilNext().toMillis();
    pass(pause);
    assertThat(schedule.due()).containsExactly(ONE);
    schedule.looked(ONE, moved);
    return pause;
  }

  @Test
  void pauses_double_while_a_database_stands_still_and_are_short_when_it_moved() {
    schedule.follow(Set.of(ONE));

    assertThat(pauseBefore(false)).isEqualTo(100);
    assertThat(pauseBefore(false)).isEqualTo(200);
    assertThat(pauseBefore(false)).isEqualTo(400);
    assertThat(pauseBefore(false)).isEqualTo(800);
    assertThat(pauseBefore(false)).isEqualTo(1_000);
    assertThat(pauseBefore(true)).isEqualTo(1_000);
    assertThat(pauseBefore(true)).isEqualTo(100);
    assertThat(pauseBefore(false)).isEqualTo(100);
    assertThat(pauseBefore(false)).isEqualTo(200);
  }

  @Test
  void each_database_has_a_pace_of_its_own() {
    schedule.follow(Set.of(ONE));
    pauseBefore(false);
    pauseBefore(false);
    schedule.follow(Set.of(ONE, TWO));

    assertThat(schedule.untilNext()).isEqualTo(Duration.ofMillis(100));
    pass(100);
    assertThat(schedule.due()).containsExactly(TWO);
  }

  @Test
  void what_nobody_listens_to_is_forgotten() {
    schedule.follow(Set.of(ONE));
    pauseBefore(false);
    schedule.follow(Set.of());

    assertThat(schedule.untilNext()).isEqualTo(Duration.ofMillis(1_000));
    schedule.follow(Set.of(ONE));
    assertThat(schedule.untilNext()).isEqualTo(Duration.ofMillis(100));
  }

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
