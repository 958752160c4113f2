package lectus.account;

import java.util.Collection;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import lectus.database.DatabaseName;
import lectus.document.edit.DocumentParser;
import lectus.document.edit.Edit;
import lectus.error.LectusException;

/** What edits of users' documents need before they are written, and afterwards. Thread-safe. */
public final class UserEdits {
  private final Supplier<AccountSettings> settings;
  private final DocumentParser parser;
  private final Hashing hashing;
  private final KnownAccounts known;
  private final UserDatabaseMaking userDatabases;

  UserEdits(
      Supplier<AccountSettings> settings,
      DocumentParser parser,
      Hashing hashing,
      KnownAccounts known,
      UserDatabaseMaking userDatabases) {
    this.settings = settings;
    this.parser = parser;
    this.hashing = hashing;
    this.known = known;
    this.userDatabases = userDatabases;
  }

  /**
   * @throws LectusException {@code forbidden} (403): it is the database of users, and the
   *     configuration does not let its {@code _security} be changed
   */
  public void checkSecurityMayChange(DatabaseName database) {
    if (database.equals(UserDocuments.USERS) && !settings.get().letsUsersSecurityChange()) {
      throw LectusException.forbidden("You can't edit the security object of the user database.");
    }
  }

  /** Whether an edit of a database of users brings a password, which is to be hashed first. */
  public boolean needsHashing(Edit edit) {
    return NewPassword.isIn(edit);
  }

  /**
   * Begins to replace the password of a user's document by its hash.
   *
   * @return fails with Unavailable (503) if too many wait, with {@code forbidden} (403) if the
   *     password cannot be used
   */
  public CompletableFuture<Edit> hash(Edit edit) {
    return hashing.begin(
        edit.by().isServerAdmin(), edit.by().name().orElse(""), () -> hashed(edit));
  }

  /** Like {@link #hash}, for one of many edits, without a delay to those who log in. */
  public CompletableFuture<Edit> hashOfImport(Edit edit) {
    return hashing.beginImport(edit.by().name().orElse(""), () -> hashed(edit));
  }

  /** Returns how many of {@link #hashOfImport} are worth being begun at a time. */
  public int importsAtOnce() {
    return Hashing.IMPORTS_AT_ONCE;
  }

  private Edit hashed(Edit edit) {
    return NewPassword.hashed(edit, parser, settings.get().iterations());
  }

  /**
   * Begins to bring everything up to users' documents that were written: what this server remembers
   * of them, and their own databases.
   */
  public CompletableFuture<Void> follow(Collection<String> users) {
    users.forEach(known::forget);
    return userDatabases.begin(users);
  }
}
