package lectus.cli;

import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import lectus.config.ConfigurationKey;
import picocli.CommandLine.Model.IGetter;
import picocli.CommandLine.Model.ISetter;

/** Stores the value of a flag under the key that it sets. */
final class KeyBinding implements IGetter, ISetter {
  private final ConfigurationKey<?> key;
  private final Map<String, String> values;
  private Object given;

  /**
   * @param values by names of keys, as they are set
   */
  KeyBinding(ConfigurationKey<?> key, Map<String, String> values) {
    this.key = key;
    this.values = values;
  }

  /** Returns the value set last; picocli reads it to add the values of a repeated flag. */
  @Override
  @SuppressWarnings("unchecked")
  public <T> T get() {
    return (T) given;
  }

  @Override
  public <T> T set(T value) {
    given = value;
    if (value != null) {
      values.put(key.name(), text(value));
    }
    return value;
  }

  private static String text(Object value) {
    return value instanceof List<?> words
        ? words.stream().map(Object::toString).collect(Collectors.joining(","))
        : value.toString();
  }
}
