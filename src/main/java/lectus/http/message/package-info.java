/**
 * Requests' targets and parameters, and whole answers, as values: nothing here has a connection.
 * {@link lectus.http.message.ErrorStatus} alone maps errors to status codes.
 */
package lectus.http.message;
