/**
 * Admins, the users in the database {@code _users}, the secrets that sign cookies, passwords, and
 * log-in. Nothing here depends on HTTP.
 */
package lectus.account;
