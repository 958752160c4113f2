package lectus.store.embedded.engine.folder;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class RecentLinesTest {
  private long now;
  private final RecentLines lines = new RecentLines(() -> now);

  @Test
  void line_that_differs_in_numbers_alone_is_not_new_for_ten_minutes() {
    assertThat(lines.isNew("While appending to file 000012.log")).isTrue();
    assertThat(lines.isNew("While appending to file 000013.log")).isFalse();
    assertThat(lines.isNew("While opening file 000013.log")).isTrue();

    now += Duration.ofMinutes(10).toNanos() - 1;
    assertThat(lines.isNew("While appending to file 000014.log")).isFalse();
    now += 1;
    assertThat(lines.isNew("While appending to file 000015.log")).isTrue();
  }

  @Test
  void only_so_many_are_remembered() {
    lines.isNew("first");
    for (int i = 0; i < 63; i++) {
      lines.isNew("x".repeat(i + 1));
    }
    assertThat(lines.isNew("first")).isFalse();
    lines.isNew("x".repeat(64));
    assertThat(lines.isNew("first")).isTrue();
  }
}
