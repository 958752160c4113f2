package lectus.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import org.junit.jupiter.api.Test;

final class ProgressTest {
  private final StringWriter err = new StringWriter();
  private long millis;

  private Progress progress(boolean isTerminal) {
    return new Progress(
        new PrintWriter(err), isTerminal, () -> TimeUnit.MILLISECONDS.toNanos(millis));
  }

  @Test
  void without_a_terminal_there_is_a_line_a_second() {
    LongConsumer read = progress(false).ofBytes("notes", 4_000_000);
    for (int i = 0; i < 4; i++) {
      millis += 500;
      read.accept(1_000_000);
    }
    assertThat(err.toString().lines())
        .containsExactly("notes, 2.0 MB, 50 %", "notes, 4.0 MB, 100 %");
  }

  @Test
  void at_a_terminal_there_is_a_bar_in_one_line_that_is_cleared() {
    Progress progress = progress(true);
    LongConsumer read = progress.ofBytes("notes", 2_000);
    millis += 100;
    read.accept(1_000);
    read.accept(1);
    millis += 100;
    read.accept(999);
    progress.clear();

    String[] lines = err.toString().split("\r");
    assertThat(lines[1]).isEqualTo("[###############...............] 50 % notes, 1.0 kB");
    assertThat(lines[3]).isEqualTo("[##############################] 100 % notes, 2.0 kB");
    assertThat(err.toString()).doesNotContain("\n").endsWith(" \r");
  }

  @Test
  void bytes_are_shown_in_the_largest_unit() {
    assertThat(Progress.bytes(999)).isEqualTo("999 bytes");
    assertThat(Progress.bytes(1_000)).isEqualTo("1.0 kB");
    assertThat(Progress.bytes(1_234_567_890_123L)).isEqualTo("1.2 TB");
  }
}
