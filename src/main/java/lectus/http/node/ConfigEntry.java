package lectus.http.node;

import java.util.Arrays;
import java.util.Set;
import java.util.stream.Collectors;
import lectus.setting.SettingName;

/**
 * A setting under CouchDB's name for it.
 *
 * @param value in force, as CouchDB writes it
 * @param key of this server's configuration; empty if there is none
 */
record ConfigEntry(SettingName name, String value, String key) {

  /** Whether a value means the same as the one in force; in lists, order does not matter. */
  boolean isInForce(String wanted) {
    return words(wanted).equals(words(value));
  }

  private static Set<String> words(String text) {
    return Arrays.stream(text.split(",")).map(String::strip).collect(Collectors.toSet());
  }

  /** Returns what is to be done instead of setting it here. */
  String advice() {
    return key.isEmpty()
        ? name + " cannot be changed."
        : name + " cannot be changed while the server runs: its configuration has " + key + ".";
  }
}
