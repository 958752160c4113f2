package lectus.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class AddressRangeTest {
  private static final long TENTH_NANOS = 100_000_000;
  private final AtomicLong now = new AtomicLong();
  private final UserUsage usage = new UserUsage(now::get);

  @ParameterizedTest
  @CsvSource({
    "10.0.0.0/8, 10.255.1.2, true",
    "10.0.0.0/8, 11.0.0.0, false",
    "192.168.4.0/22, 192.168.7.255, true",
    "192.168.4.0/22, 192.168.8.0, false",
    "0.0.0.0/0, 8.8.8.8, true",
    "0.0.0.0/0, ::1, false",
    "127.0.0.1, 127.0.0.1, true",
    "127.0.0.1, 127.0.0.2, false",
    "127.0.0.1, ::ffff:127.0.0.1, true",
    "::1, ::1, true",
    "2001:db8::/33, 2001:db8:7fff::1, true",
    "2001:db8::/33, 2001:db8:8000::1, false"
  })
  void a_range_has_the_addresses_that_begin_like_it(String range, String address, boolean has) {
    assertThat(
            AddressRange.parse(range)
                .orElseThrow()
                .contains(IpLiteral.parse(address).orElseThrow()))
        .isEqualTo(has);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "localhost",
        "10.0.0.0/33",
        "10.0.0.0/",
        "10.0.0.0/-1",
        "10.0.0",
        "256.0.0.1",
        "1.2.3.4.5",
        "::1/129",
        ":::1",
        "fe80::1%lo",
        ".:.",
        "cafe",
        "10.0.0.0/8/8"
      })
  void other_texts_are_no_ranges(String text) {
    assertThat(AddressRange.parse(text)).isEmpty();
  }

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
