/**
 * All errors as values, and FoundationDB's codes by name. {@link lectus.http.ErrorStatus} maps
 * errors to status codes of HTTP.
 */
package lectus.error;
