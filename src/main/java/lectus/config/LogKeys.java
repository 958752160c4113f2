package lectus.config;

import java.util.List;

/** What a server writes to its log. */
public final class LogKeys {
  static final KeySection SECTION = new KeySection("Log");

  public static final ConfigurationKey<String> FORMAT =
      SECTION.key(
          "log.format",
          ValueType.oneOf(List.of("text", "json")),
          "text",
          "text: lines for people. json: each line on standard output is a JSON object.");

  public static final ConfigurationKey<Boolean> ACCESS_LOG =
      SECTION.flag("access-log", true, "One line for each request in the log.");

  public static final ConfigurationKey<Integer> SLOW_MILLIS =
      SECTION.number(
          "log.slow-request-millis",
          0,
          0,
          3_600_000,
          """
          A request that takes at least so many milliseconds has another line in the
          log, which says what it waited for. 0: none has. Live feeds are not meant.
          """);

  private LogKeys() {}
}
