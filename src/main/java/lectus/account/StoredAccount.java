package lectus.account;

import java.util.Optional;
import lectus.account.Accounts.NamedAccount;
import lectus.database.UserContext;

/**
 * What the store has of an account.
 *
 * @param password empty if nobody can log in
 * @param disputed the password of a document in conflict: it lets nobody in, but who knows it is
 *     told why
 * @param isAdmin whether the password is that of an admin, not of a user's document
 */
record StoredAccount(
    UserContext user,
    Optional<PasswordHash> password,
    Optional<PasswordHash> disputed,
    boolean isAdmin) {
  static StoredAccount ofAdmin(UserContext user, Optional<PasswordHash> password) {
    return new StoredAccount(user, password, Optional.empty(), true);
  }

  static StoredAccount ofUser(UserContext user, UserMembers members) {
    return new StoredAccount(user, members.password(), members.disputedPassword(), false);
  }

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
