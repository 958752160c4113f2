package lectus.http.message;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import org.junit.jupiter.api.Test;

final class HttpDateTest {
  private static final Instant DAY_OF_ONE_DIGIT = Instant.parse("2026-11-03T04:05:06Z");

  @Test
  void a_day_has_two_digits() {
    assertThat(HttpDate.format(DAY_OF_ONE_DIGIT)).isEqualTo("Tue, 03 Nov 2026 04:05:06 GMT");
  }

  @Test
  void what_was_sent_is_understood() {
    assertThat(HttpDate.parse("Tue, 03 Nov 2026 04:05:06 GMT")).contains(DAY_OF_ONE_DIGIT);
    assertThat(HttpDate.parse("yesterday")).isEmpty();
    assertThat(HttpDate.parse("")).isEmpty();
  }
}
