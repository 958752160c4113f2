package lectus.config;

import java.util.Locale;

/**
 * One key of the configuration. Validation, the flags' help, the environment variable and {@code
 * conf/lectus.conf} all follow from this declaration.
 *
 * @param <T> the type of its values
 */
public final class ConfigurationKey<T> {
  private final String name;
  private final String fallback;
  private final ValueType<T> type;
  private final String meaning;

  /**
   * @param meaning sentences; line ends count as spaces
   */
  ConfigurationKey(String name, String fallback, ValueType<T> type, String meaning) {
    this.name = name;
    this.fallback = fallback;
    this.type = type;
    this.meaning = meaning;
  }

  /** Returns its name in the configuration file, such as {@code cors.max-age}. */
  public String name() {
    return name;
  }

  /** Returns the default, as text. */
  public String fallback() {
    return fallback;
  }

  /** Returns what it decides, in sentences on one line. */
  public String meaning() {
    return meaning.strip().replaceAll("\\s+", " ");
  }

  ValueType<T> type() {
    return type;
  }

  /**
   * @throws IllegalArgumentException a text that it does not take; the message says which it does
   */
  T parse(String text) {
    return type.parse().apply(text).orElseThrow(() -> new IllegalArgumentException(type.wanted()));
  }

  /** Returns the environment variable of this key, such as LECTUS_CORS_MAX_AGE. */
  String variable() {
    return "LECTUS_" + name.toUpperCase(Locale.ROOT).replace('.', '_').replace('-', '_');
  }
}
