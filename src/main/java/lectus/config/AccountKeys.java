package lectus.config;

import java.util.List;
import lectus.account.AccountSettings;

/** How users' documents and passwords are kept. */
public final class AccountKeys {
  static final KeySection SECTION = new KeySection("Users' documents and passwords");

  public static final ConfigurationKey<Integer> HASH_ITERATIONS =
      SECTION.number(
          "access.hash-iterations",
          AccountSettings.DEFAULT_ITERATIONS,
          1,
          AccountSettings.MAX_ITERATIONS,
          """
          How many times a password is hashed (PBKDF2 with SHA-256). Hashes of earlier
          schemes or with another number are replaced when their users log in.
          """);

  public static final ConfigurationKey<String> LOCKOUT =
      SECTION.key(
          "access.lockout",
          ValueType.oneOf(List.of("enforce", "warn", "off")),
          "enforce",
          """
          What five wrong passwords of a name from one address within five minutes lead
          to, as with CouchDB's chttpd_auth_lockout/mode. enforce: further ones are not
          looked at (403). warn: the log says so. off: nothing.
          """);

  public static final ConfigurationKey<Boolean> USERS_SECURITY_EDITABLE =
      SECTION.flag(
          "access.users-security-editable",
          false,
          """
          Whether the _security of the database _users may be changed. If it makes
          everybody a member, whoever is not logged in may register as a user.
          """);

  public static final ConfigurationKey<List<String>> PUBLIC_FIELDS =
      SECTION.key(
          "access.public-fields",
          ValueType.WORDS,
          "",
          """
          Fields of users' documents, with commas between them, that everybody may read
          who may read _users, as with CouchDB's public_fields. What is stored of a
          password is never shown. Empty: of others one sees nothing.
          """);

  public static final ConfigurationKey<Boolean> PER_USER_DATABASES =
      SECTION.flag(
          "access.per-user-databases",
          false,
          """
          Whether each user gets a database when the user's document is made, as with
          CouchDB's couch_peruser: userdb- and the name in hex digits. Only this user and
          server admins may use it.
          """);

  public static final ConfigurationKey<Boolean> DELETE_USER_DATABASES =
      SECTION.flag(
          "access.delete-user-databases",
          false,
          """
          Whether such a database is deleted, with all that is in it, when its user's
          document is deleted. Otherwise its user merely loses the right to it.
          """);

  private AccountKeys() {}
}
