package lectus.http;

import lectus.database.LiveSettings;

/**
 * The settings that may change while a server runs.
 *
 * @param live what is in force
 * @param plan which they are
 */
public record ChangeableSettings(LiveSettings<ServedSettings> live, SettingsPlan plan) {

  /** Returns what is in force. Never waits. */
  public ServedSettings current() {
    return live.current();
  }
}
