package lectus.config;

import lectus.account.AccountSettings;

/** How users' documents and passwords are kept. */
public final class AccountKeys {
  static final KeySection SECTION = new KeySection("Users' documents and passwords");

  /** The default of CouchDB 3.5. */
  private static final int DEFAULT_ITERATIONS = 600_000;

  public static final ConfigurationKey<Integer> HASH_ITERATIONS =
      SECTION.number(
          "access.hash-iterations",
          DEFAULT_ITERATIONS,
          1,
          AccountSettings.MOST_ITERATIONS,
          """
          How many times a password is hashed (PBKDF2 with SHA-256). Hashes of earlier
          schemes or with another number are replaced when their users log in.
          """);

  public static final ConfigurationKey<Boolean> USERS_SECURITY_EDITABLE =
      SECTION.flag(
          "access.users-security-editable",
          false,
          """
          Whether the _security of the database _users may be changed. Who is not logged
          in may register himself where its members are everybody.
          """);

  public static final ConfigurationKey<Boolean> PER_USER_DATABASES =
      SECTION.flag(
          "access.per-user-databases",
          false,
          """
          Whether each user gets a database of his own when his document is made, as with
          CouchDB's couch_peruser: userdb- and the name in hex digits. He alone may use it,
          and server admins.
          """);

  public static final ConfigurationKey<Boolean> DELETE_USER_DATABASES =
      SECTION.flag(
          "access.delete-user-databases",
          false,
          """
          Whether such a database is deleted, with all that is in it, when its user's
          document is deleted. Otherwise its user merely loses his right to it.
          """);

  private AccountKeys() {}
}
