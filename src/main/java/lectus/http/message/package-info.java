/**
 * Requests' targets and parameters, and whole answers, as values: nothing here has a connection.
 * The one place that maps errors to status codes is {@link lectus.http.message.ErrorStatus}.
 */
package lectus.http.message;
