package lectus.config;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import lectus.database.SettingsSubspace.SettingName;

/**
 * A key that may be changed while servers run.
 *
 * @param names CouchDB's; it is stored under the first
 * @param type of the values that may be set
 * @param translation of CouchDB's values before that
 * @param narrowing of what may be set to what the key takes
 * @param safe what is in force where the stored value is of no use; empty: what is configured
 */
record ChangeableKey(
    List<SettingName> names,
    ConfigurationKey<?> key,
    ValueType<?> type,
    UnaryOperator<String> translation,
    UnaryOperator<String> narrowing,
    Optional<String> safe) {

  /**
   * @param name as {@code section/name}
   */
  static ChangeableKey of(String name, ConfigurationKey<?> key) {
    return new ChangeableKey(
        List.of(parsed(name)),
        key,
        key.type(),
        UnaryOperator.identity(),
        UnaryOperator.identity(),
        Optional.empty());
  }

  ChangeableKey or(String name) {
    List<SettingName> all = new ArrayList<>(names);
    all.add(parsed(name));
    return new ChangeableKey(List.copyOf(all), key, type, translation, narrowing, safe);
  }

  ChangeableKey within(ValueType<?> narrower) {
    return new ChangeableKey(names, key, narrower, translation, narrowing, safe);
  }

  /**
   * A size may be set beyond what the server can hold, as CouchDB's set-up scripts do; in force is
   * no more than that.
   *
   * @param most what the key takes
   */
  ChangeableKey size(long least, long most) {
    return new ChangeableKey(
        names,
        key,
        ValueType.longNumber(least, Long.MAX_VALUE),
        translation,
        text -> Long.toString(Math.min(Long.parseLong(text), most)),
        safe);
  }

  ChangeableKey translated(UnaryOperator<String> other) {
    return new ChangeableKey(names, key, type, other, narrowing, safe);
  }

  /** What is in force is this, unless the store says otherwise and can be understood. */
  ChangeableKey elseSafely(String text) {
    return new ChangeableKey(names, key, type, translation, narrowing, Optional.of(text));
  }

  SettingName name() {
    return names.get(0);
  }

  /** Returns the key's value for one of CouchDB's; empty if it takes no such value. */
  Optional<String> valueOf(String text) {
    String value = translation.apply(text);
    return type.parse().apply(value).map(parsed -> narrowing.apply(value));
  }

  private static SettingName parsed(String name) {
    return SettingName.parse(name).orElseThrow();
  }
}
