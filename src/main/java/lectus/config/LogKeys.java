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
          """
          text: lines for people. json: each line on standard output is a JSON object.
          """);

  public static final ConfigurationKey<Boolean> ACCESS_LOG =
      SECTION.flag(
          "access-log",
          true,
          """
          One line for each request in the log.
          """);

  private LogKeys() {}
}
