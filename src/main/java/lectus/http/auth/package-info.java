/**
 * Who sends a request, and whether it may be served: ways to log in, cookies, the right that each
 * route needs, limits for each user, and {@code /_session}. Must not know what resources answer.
 */
package lectus.http.auth;
