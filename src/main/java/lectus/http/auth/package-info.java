/**
 * Who sends a request, and whether it may be served: ways to log in, cookies, the right that each
 * route needs, rate limits of users, and {@code /_session}.
 */
package lectus.http.auth;
