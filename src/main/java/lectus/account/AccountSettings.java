package lectus.account;

import lectus.database.SecurityObject;

/**
 * The administrator's settings of accounts.
 *
 * @param iterations of PBKDF2, for new passwords
 * @param mostImportedIterations of the hashes that users store themselves
 * @param defaultSecurity of databases whose security was never set
 * @param admitsEverybody whether whoever is not logged in is an admin while there is none: true
 *     only where nobody else can reach the server, or where the administrator says so
 * @param perUserDatabases whether each user gets a database
 * @param deletesUserDatabases whether that is deleted with the user's document
 * @param letsUsersSecurityChange whether the {@code _security} of {@code _users} may be changed
 * @param lockout what many wrong passwords of a name from one address lead to
 */
public record AccountSettings(
    int iterations,
    int mostImportedIterations,
    SecurityObject defaultSecurity,
    boolean admitsEverybody,
    boolean perUserDatabases,
    boolean deletesUserDatabases,
    boolean letsUsersSecurityChange,
    Lockout lockout) {
  /** CouchDB's modes. */
  public enum Lockout {
    /** Further passwords are not looked at. */
    ENFORCE,

    /** The log says so. */
    WARN,
    OFF
  }

  /** The default of CouchDB 3.5; also the {@link #mostImportedIterations} of a server. */
  public static final int DEFAULT_ITERATIONS = 600_000;

  /** More would let whoever writes a user's document keep the server busy for seconds. */
  public static final int MAX_ITERATIONS = 2_000_000;

  /** Returns how many iterations those who are no admins may cause with what they store. */
  int mostUserIterations() {
    return Math.max(iterations, mostImportedIterations);
  }
}
