package lectus.account;

import lectus.database.UserContext;

/**
 * An account as it is now.
 *
 * @param salt changes with the password; a cookie is signed with it, so that it ends with the
 *     password
 */
public record NamedAccount(UserContext user, String salt) {}
