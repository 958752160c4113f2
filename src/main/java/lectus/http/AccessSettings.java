package lectus.http;

import java.util.Optional;
import lectus.account.PublicFields;
import lectus.database.SecurityObject;

/**
 * Who has to log in, how, and what one user may ask for.
 *
 * @param requiresValidUser whether nobody may do anything without a log-in
 * @param requiresValidUserButForUp the same, except for asking whether the server is up
 * @param challenge how every client without a log-in is told to log in; empty: as in CouchDB
 * @param logInPage the path that browsers are sent to which may not do something; empty: none
 * @param onlyAdminsListDatabases whether {@code _all_dbs} and {@code _dbs_info} are for server
 *     admins; otherwise all users see the databases that they may read
 * @param unset who may use a database whose security was never set
 * @param publicFields of users' documents, which others may read
 * @param proxySecret with which a proxy signs the names of its users; empty: none may name users
 */
public record AccessSettings(
    boolean requiresValidUser,
    boolean requiresValidUserButForUp,
    Optional<String> challenge,
    Optional<String> logInPage,
    boolean onlyAdminsListDatabases,
    SecurityObject unset,
    PublicFields publicFields,
    CookieSettings cookies,
    Optional<String> proxySecret,
    TokenSettings tokens,
    UserLimits limits) {

  /** Whether a request without a log-in is refused, whatever it asks for. */
  public boolean requiresUser(boolean isAboutUp) {
    return isAboutUp
        ? requiresValidUser && !requiresValidUserButForUp
        : requiresValidUser || requiresValidUserButForUp;
  }
}
