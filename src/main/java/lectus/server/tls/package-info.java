/**
 * TLS: keys and certificates, read from files, checked, and read again when the files change. What
 * is said over a connection is not known here.
 */
package lectus.server.tls;
