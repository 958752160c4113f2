package lectus.http.changes;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.LongStream;
import lectus.changes.page.FeedPosition;
import lectus.database.Sequence;
import lectus.http.changes.LiveListener.JoinPauses;
import org.junit.jupiter.api.Test;

/** The back-off of a listener before it tries again to join a tail. */
final class JoinPausesTest {
  private static final int ATTEMPTS = 12;

  private final JoinPauses<FeedPosition> pauses = new JoinPauses<>();

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
