package lectus.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import lectus.metrics.LogFormat.LogTime;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class LogTimeTest {
  private Instant now = Instant.EPOCH;
  private final LogTime time = new LogTime(() -> now);

  @ParameterizedTest
  @ValueSource(
      strings = {
        "1969-12-31T23:59:59.999Z",
        "2026-01-02T03:04:05.006Z",
        "2026-11-21T13:00:59.120Z",
        "2026-11-21T13:01:00.009Z"
      })
  void is_printed_with_three_digits_of_the_second(String text) {
    assertThat(at(text)).isEqualTo(text);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 999, 1_000, 60_000, 86_400_000})
  void goes_on_with_the_clock(long millis) {
    at("2026-11-21T23:59:59.250Z");

    String later = Instant.parse("2026-11-21T23:59:59.250Z").plusMillis(millis).toString();

    assertThat(Instant.parse(at(later))).isEqualTo(Instant.parse(later));
  }

  private String at(String instant) {
    now = Instant.parse(instant);
    StringBuilder line = new StringBuilder();
    time.appendTo(line);
    return line.toString();
  }
}
