package lectus.http;

import java.util.Map;
import lectus.account.AccountSettings;
import lectus.database.SettingsSubspace.SettingName;
import lectus.document.edit.DocumentLimits;

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
}
