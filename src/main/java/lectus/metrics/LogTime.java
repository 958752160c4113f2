package lectus.metrics;

import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;

/** UTC with milliseconds, in ISO 8601; only the milliseconds are formatted every time. */
public final class LogTime {
  private static final DateTimeFormatter TO_THE_SECOND =
      DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.").withZone(ZoneOffset.UTC);

  private static final int MILLIS_PER_SECOND = 1_000;

  private final InstantSource clock;
  private long second = Long.MIN_VALUE;
  private String toTheSecond;

  public LogTime(InstantSource clock) {
    this.clock = clock;
  }

  public void appendTo(StringBuilder line) {
    long now = clock.millis();
    long currentSecond = Math.floorDiv(now, MILLIS_PER_SECOND);
    if (currentSecond != second) {
      second = currentSecond;
      toTheSecond = TO_THE_SECOND.format(Instant.ofEpochSecond(second));
    }
    int millis = Math.floorMod(now, MILLIS_PER_SECOND);
    line.append(toTheSecond);
    line.append((char) ('0' + millis / 100));
    line.append((char) ('0' + millis / 10 % 10));
    line.append((char) ('0' + millis % 10));
    line.append('Z');
  }
}
