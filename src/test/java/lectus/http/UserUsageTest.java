package lectus.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** How much one user may ask, and that others do not count. */
final class UserUsageTest {
  private static final long TENTH_NANOS = 100_000_000;

  private final AtomicLong now = new AtomicLong();
  private final UserUsage usage = new UserUsage(now::get);

  private int asked(String user, int times) {
    int allowed = 0;
    for (int i = 0; i < times; i++) {
      allowed += usage.mayAsk(user, 10) ? 1 : 0;
    }
    return allowed;
  }

  @Test
  void so_many_at_once_and_then_as_many_each_second() {
    assertThat(asked("jan", 20)).isEqualTo(10);
    now.addAndGet(TENTH_NANOS - 1);
    assertThat(asked("jan", 20)).isZero();
    now.addAndGet(1);
    assertThat(asked("jan", 20)).isEqualTo(1);
    now.addAndGet(5 * TENTH_NANOS);
    assertThat(asked("jan", 20)).isEqualTo(5);
  }

  @Test
  void who_has_been_silent_saves_no_more_than_a_second() {
    asked("jan", 10);
    now.addAndGet(100 * TENTH_NANOS);

    assertThat(asked("jan", 20)).isEqualTo(10);
  }

  @Test
  void each_user_has_his_own() {
    asked("jan", 20);

    assertThat(asked("ann", 20)).isEqualTo(10);
  }

  @Test
  void connections_are_given_back() {
    assertThat(usage.connect("jan", 2)).isTrue();
    assertThat(usage.connect("jan", 2)).isTrue();
    assertThat(usage.connect("jan", 2)).isFalse();
    assertThat(usage.connect("ann", 2)).isTrue();

    usage.disconnect("jan");

    assertThat(usage.connect("jan", 2)).isTrue();
    assertThat(usage.connect("jan", 2)).isFalse();
  }
}
