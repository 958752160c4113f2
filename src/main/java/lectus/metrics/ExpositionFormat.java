package lectus.metrics;

import java.util.Arrays;
import java.util.Locale;
import java.util.regex.Pattern;

/** A form in which figures are written. */
public enum ExpositionFormat {
  /** Prometheus' own, for whoever does not ask for another. */
  TEXT("text/plain; version=0.0.4; charset=utf-8"),

  OPEN_METRICS("application/openmetrics-text; version=1.0.0; charset=utf-8");

  /** In any version, unless with a q of 0. */
  private static final Pattern WANTED =
      Pattern.compile("application/openmetrics-text(?!.*;q=0(\\.0*)?(;|$))(;.*)?");

  private final String contentType;

  ExpositionFormat(String contentType) {
    this.contentType = contentType;
  }

  public String contentType() {
    return contentType;
  }

  /**
   * Returns OpenMetrics if it is among the types that are accepted.
   *
   * @param accept the header's value; empty without one
   */
  public static ExpositionFormat of(String accept) {
    boolean isWanted =
        Arrays.stream(accept.toLowerCase(Locale.ROOT).split(","))
            .map(range -> range.replace(" ", ""))
            .anyMatch(range -> WANTED.matcher(range).matches());
    return isWanted ? OPEN_METRICS : TEXT;
  }
}
