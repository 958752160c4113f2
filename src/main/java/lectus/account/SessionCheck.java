package lectus.account;

import java.util.Optional;
import lectus.account.Accounts.NamedAccount;
import lectus.database.UserContext;
import lectus.database.UserContext.Session;
import lectus.error.LectusError;
import lectus.error.LectusException;

/** Whether those who were let in would be let in as the same now. Thread-safe. */
public record SessionCheck(Accounts accounts) {
  public static final LectusError CHANGED =
      new LectusError.Unauthorized("Your account has changed. Log in again.");

  public static final LectusError LOG_IN_NEEDED =
      new LectusError.Unauthorized("Authentication required.");

  public static final LectusError PARTY_IS_OVER =
      new LectusError.Unauthorized("This server has an admin now. Log in.");

  /**
   * Checks by what was known of the account half a second ago at most; waits for the store.
   *
   * @throws LectusException {@code unauthorized}
   */
  public void check(Session who) {
    if (who.user().equals(UserContext.ADMIN_PARTY)) {
      if (accounts.hasAdmin()) {
        throw new LectusException(PARTY_IS_OVER);
      }
    } else if (who.salt().isPresent() && !isOf(who, who.user().name().flatMap(accounts::account))) {
      throw new LectusException(CHANGED);
    }
  }

  /** Whether it was this account, as it is now, that let somebody in. */
  public static boolean isOf(Session who, Optional<NamedAccount> account) {
    return account
        .filter(now -> now.user().equals(who.user()))
        .map(NamedAccount::salt)
        .equals(who.salt());
  }
}
