/**
 * Targets, headers, parameters and whole answers as values, without a connection. Also bodies in
 * several parts (RFC 2046, section 5.1). {@link lectus.http.message.ErrorStatus} alone maps errors
 * to status codes.
 */
package lectus.http.message;
