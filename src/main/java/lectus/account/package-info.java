/**
 * The accounts of a store: its admins, the users in the database {@code _users}, the secrets with
 * which cookies are signed, and log-in. Must not know HTTP.
 */
package lectus.account;
