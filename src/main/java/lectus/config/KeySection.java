package lectus.config;

import java.util.ArrayList;
import java.util.List;

/**
 * Keys that belong together, in the order of their declaration. Declaring a key registers it. A
 * section is complete once the class that holds it is initialized.
 */
record KeySection(String title, List<ConfigurationKey<?>> keys) {
  KeySection(String title) {
    this(title, new ArrayList<>());
  }

  <T> ConfigurationKey<T> key(String name, ValueType<T> type, String fallback, String meaning) {
    ConfigurationKey<T> key = new ConfigurationKey<>(name, fallback, type, meaning);
    keys.add(key);
    return key;
  }

  ConfigurationKey<Boolean> flag(String name, boolean fallback, String meaning) {
    return key(name, ValueType.FLAG, Boolean.toString(fallback), meaning);
  }

  ConfigurationKey<Integer> number(String name, int fallback, int least, int most, String meaning) {
    return key(name, ValueType.number(least, most), Integer.toString(fallback), meaning);
  }

  /**
   * Declares a number that is derived from others unless it is set; the default 0 means derived.
   */
  ConfigurationKey<Long> chosenNumber(String name, long least, long most, String meaning) {
    return key(name, ValueType.chosenNumber(least, most), "0", meaning);
  }
}
