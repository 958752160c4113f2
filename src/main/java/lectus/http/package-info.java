/**
 * What a server hands to its HTTP interface: services to answer with, and what its administrator
 * decided. What uses them are the packages below. JSON web tokens (RFC 7519) as CouchDB takes them:
 * the keys, whose signature is good, and what is claimed. Must not know requests.
 */
package lectus.http;
