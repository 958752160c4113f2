package lectus.config;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import lectus.setting.SettingName;

/**
 * A key that may be changed while servers run.
 *
 * @param names CouchDB's; it is stored under the first
 * @param type of the values that may be set; no more than the key takes
 * @param translation of CouchDB's values to the key's
 * @param safe what is in force where the stored value is of no use; empty: what is configured
 */
record ChangeableKey(
    List<SettingName> names,
    ConfigurationKey<?> key,
    ValueType<?> type,
    UnaryOperator<String> translation,
    Optional<String> safe) {

  /**
   * @param name as {@code section/name}
   */
  static ChangeableKey of(String name, ConfigurationKey<?> key) {
    return new ChangeableKey(
        List.of(parsed(name)), key, key.type(), UnaryOperator.identity(), Optional.empty());
  }

  ChangeableKey or(String name) {
    List<SettingName> all = new ArrayList<>(names);
    all.add(parsed(name));
    return new ChangeableKey(List.copyOf(all), key, type, translation, safe);
  }

  ChangeableKey within(ValueType<?> narrower) {
    return new ChangeableKey(names, key, narrower, translation, safe);
  }

  ChangeableKey translated(UnaryOperator<String> other) {
    return new ChangeableKey(names, key, type, other, safe);
  }

  /** What is in force is this, unless the store says otherwise and can be understood. */
  ChangeableKey elseSafely(String text) {
    return new ChangeableKey(names, key, type, translation, Optional.of(text));
  }

  SettingName name() {
    return names.get(0);
  }

  /** Returns the key's value for one of CouchDB's; empty if it takes no such value. */
  Optional<String> valueOf(String text) {
    String value = translation.apply(text);
    return type.parse().apply(value).map(parsed -> value);
  }

  private static SettingName parsed(String name) {
    return SettingName.parse(name).orElseThrow();
  }
}
