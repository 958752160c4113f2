package lectus.http;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.Locale;
import java.util.Optional;

/** Dates in header fields (RFC 9110, section 5.6.7). */
public final class HttpDate {
  /** The JDK's format of RFC 1123 has days of one digit, which HTTP has not. */
  private static final DateTimeFormatter FIXED =
      DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.ENGLISH)
          .withZone(ZoneOffset.UTC);

  private HttpDate() {}

  public static String format(Instant time) {
    return FIXED.format(time);
  }

  /** Returns empty for what is no date; recipients ignore such fields. */
  public static Optional<Instant> parse(String text) {
    try {
      return Optional.of(FIXED.parse(text, Instant::from));
    } catch (DateTimeParseException e) {
      return Optional.empty();
    }
  }
}
