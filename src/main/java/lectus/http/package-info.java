/**
 * The settings of HTTP, the members of the cluster as HTTP sees them, and the usage of each user.
 * Also JSON web tokens (RFC 7519) as CouchDB takes them: keys, signatures and claims.
 */
package lectus.http;
