package lectus.database;

import java.util.Comparator;
import java.util.Optional;

/** The name of a setting in CouchDB's configuration, as text {@code section/name}. */
public record SettingName(String section, String name) implements Comparable<SettingName> {
  private static final Comparator<SettingName> ORDER =
      Comparator.comparing(SettingName::section).thenComparing(SettingName::name);

  /** Parses {@code section/name}; empty if it is nothing of that kind. */
  public static Optional<SettingName> parse(String text) {
    int slash = text.indexOf('/');
    return slash < 1 || slash == text.length() - 1
        ? Optional.empty()
        : Optional.of(new SettingName(text.substring(0, slash), text.substring(slash + 1)));
  }

  @Override
  public int compareTo(SettingName other) {
    return ORDER.compare(this, other);
  }

  @Override
  public String toString() {
    return section + "/" + name;
  }
}
