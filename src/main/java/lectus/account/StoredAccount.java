package lectus.account;

import java.util.Optional;
import lectus.access.UserContext;

/**
 * What the store has of an account.
 *
 * @param password empty if nobody can log in
 * @param isAdmin whether the password is that of an admin, not of a user's document
 */
record StoredAccount(UserContext user, Optional<PasswordHash> password, boolean isAdmin) {
  NamedAccount account() {
    return new NamedAccount(user, salt());
  }

  String name() {
    return user.name().orElseThrow();
  }

  /** Empty if there is no password. */
  String salt() {
    return password.map(PasswordHash::salt).orElse("");
  }
}
