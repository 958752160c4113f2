package lectus.http.admin;

import java.util.List;
import java.util.Set;
import lectus.account.AdminChanges;
import lectus.database.LiveSettings;
import lectus.database.SettingsSubspace.SettingName;
import lectus.error.LectusException;
import lectus.http.HttpSettings.AccessSettings;
import lectus.http.ServedSettings;

/**
 * Refuses what would leave a server that wants a log-in without an admin: nobody could administrate
 * it any more. Each check waits for the store. Two changes at the same moment can get past it.
 */
final class LockOut {
  /** With one of these, nobody does anything who cannot log in. */
  private static final Set<SettingName> LOCKS =
      Set.of(
          new SettingName("chttpd", "require_valid_user"),
          new SettingName("chttpd", "require_valid_user_except_for_up"));

  private final LiveSettings<ServedSettings> live;
  private final AdminChanges admins;

  LockOut(LiveSettings<ServedSettings> live, AdminChanges admins) {
    this.live = live;
    this.admins = admins;
  }

  /**
   * @param stored the name under which the setting is stored
   * @param text the value that it is about to have
   * @throws LectusException {@code bad_request}
   */
  void checkSetting(SettingName stored, String text) {
    if (LOCKS.contains(stored) && text.equals("true") && admins.all().isEmpty()) {
      throw LectusException.badRequest(
          "There is no admin, so nobody could log in. Make one first: PUT"
              + " /_node/_local/_config/admins/NAME.");
    }
  }

  /**
   * @param admin who is about to be removed
   * @throws LectusException {@code bad_request}
   */
  void checkRemoval(String admin) {
    if (wantsLogIn()
        && admins.all().stream().map(it -> it.name()).toList().equals(List.of(admin))) {
      throw LectusException.badRequest(
          "This is the last admin, and chttpd/require_valid_user is true, so nobody could change"
              + " anything. Make another admin first, or set that to false.");
    }
  }

  private boolean wantsLogIn() {
    AccessSettings access = live.current().http().access();
    return access.requiresValidUser() || access.requiresValidUserButForUp();
  }
}
