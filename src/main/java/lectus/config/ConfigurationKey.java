package lectus.config;

import java.util.Locale;

/**
 * One key of the configuration. Validation, the flags' help, the environment variable and {@code
 * conf/lectus.conf} all follow from this declaration.
 *
 * @param name in the configuration file, such as {@code cors.max-age}
 * @param fallback the default
 * @param meaning sentences; line ends count as spaces
 */
public record ConfigurationKey<T>(String name, String fallback, ValueType<T> type, String meaning) {
  public ConfigurationKey {
    meaning = meaning.strip().replaceAll("\\s+", " ");
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
