/**
 * Requests' targets and parameters, and whole answers, as values: nothing here has a connection.
 * {@link lectus.http.message.ErrorStatus} alone maps errors to status codes. Bodies in several
 * parts (RFC 2046, section 5.1): answers as CouchDB writes them, and documents that come as the
 * only part of a request. Which resource answers is not known here.
 */
package lectus.http.message;
