/**
 * JSON web tokens (RFC 7519) as CouchDB takes them: the keys, whose signature is good, and what is
 * claimed. Must not know requests.
 */
package lectus.http.token;
