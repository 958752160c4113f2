package lectus.http;

import java.util.Map;
import java.util.Optional;
import lectus.account.AccountSettings;
import lectus.database.LiveSettings;
import lectus.database.SettingsSubspace.SettingName;
import lectus.document.edit.DocumentParser.DocumentLimits;

/**
 * The settings that may change while a server runs, among others.
 *
 * @param texts what the store says and is in force, as it was written
 */
public record ServedSettings(
    HttpSettings http,
    DocumentLimits documents,
    AccountSettings accounts,
    Map<SettingName, String> texts) {
  public ServedSettings {
    texts = Map.copyOf(texts);
  }

  /**
   * The settings that may change while a server runs.
   *
   * @param live what is in force
   * @param plan which they are
   */
  public record ChangeableSettings(LiveSettings<ServedSettings> live, SettingsPlan plan) {}

  /** Which settings may be changed while a server runs, and what it then runs with. */
  public interface SettingsPlan {
    /**
     * Returns what to run with.
     *
     * @param stored the store's values; one that cannot be read is empty. A value that is of no use
     *     leaves the configuration's in force, or the one that is safe.
     */
    ServedSettings with(Map<SettingName, Optional<String>> stored);

    /** Returns the name under which a setting is stored; empty if it cannot be changed. */
    Optional<SettingName> nameOf(SettingName name);

    /**
     * @param name as {@link #nameOf} returns it
     * @throws lectus.error.LectusException {@code bad_request}: it does not take this value
     */
    void check(SettingName name, String text);
  }
}
