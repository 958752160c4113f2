package lectus.http.changes;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.OptionalLong;
import java.util.stream.LongStream;
import lectus.changes.page.FeedPosition;
import lectus.config.WebSocketKeys;
import lectus.database.Sequence;
import lectus.http.changes.LiveListener.FeedTerms;
import lectus.http.changes.LiveListener.JoinPauses;
import lectus.http.testing.TestSettings;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class FeedTermsTest {
  private static final int ATTEMPTS = 12;
  private final JoinPauses<FeedPosition> pauses = new JoinPauses<>();

  @ParameterizedTest
  @CsvSource({
    "1,1000",
    "999,1000",
    "1000,1000",
    "1001,1001",
    "86399999,86399999",
    "86400000,86400000",
    "86400001,86400000",
    "9223372036854775807,86400000"
  })
  void signs_of_life_come_every_second_to_every_day(long wanted, long granted) {
    assertThat(new FeedTerms(1, OptionalLong.of(wanted), OptionalLong.empty()).heartbeatMillis())
        .hasValue(granted);
  }

  @Test
  void none_that_are_wanted_are_none() {
    assertThat(new FeedTerms(1, OptionalLong.empty(), OptionalLong.of(5)).heartbeatMillis())
        .isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"0,86400000", "300,150000", "2,1000", "1,500", "86400,43200000"})
  void the_longest_silence_is_half_of_the_patience_or_a_day(int idleSeconds, long millis) {
    assertThat(new TestSettings().idleTimeoutSeconds(idleSeconds).toNode().http())
        .satisfies(http -> assertThat(http.longestSilenceMillis()).isEqualTo(millis));
  }

  @ParameterizedTest
  @CsvSource({"300,1,1000", "300,1000,1000", "300,1001,1001", "300,9999999,7000", "1,1,500"})
  void a_sockets_client_is_pinged_once_a_second_at_most(int idleSeconds, long wanted, long millis) {
    TestSettings settings =
        new TestSettings().idleTimeoutSeconds(idleSeconds).with(WebSocketKeys.PING_SECONDS, 7);
    assertThat(settings.toNode().http())
        .satisfies(http -> assertThat(http.pingMillis(OptionalLong.of(wanted))).isEqualTo(millis));
  }

  private static FeedPosition at(int number) {
    byte[] versionstamp = new byte[12];
    versionstamp[0] = (byte) number;
    return FeedPosition.after(new Sequence(0, versionstamp));
  }

  private long[] refused(int times, FeedPosition position) {
    return LongStream.range(0, times).map(attempt -> pauses.refused(position)).toArray();
  }

  @Test
  void who_comes_further_each_time_does_not_wait() {
    for (int number = 1; number < ATTEMPTS; number++) {
      assertThat(pauses.refused(at(number))).isZero();
    }
  }

  @Test
  void who_comes_no_further_waits_twice_as_long_each_time_up_to_a_limit() {
    assertThat(refused(ATTEMPTS, at(1)))
        .containsExactly(0, 50, 100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000, 5_000, 5_000);
  }

  @Test
  void pauses_begin_anew_where_it_has_come_further() {
    refused(ATTEMPTS, at(1));
    assertThat(refused(2, at(2))).containsExactly(0, JoinPauses.FIRST_MILLIS);
  }
}
