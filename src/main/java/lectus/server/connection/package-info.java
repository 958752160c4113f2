/**
 * Connections as they are accepted: how many there may be, which one is evicted for another, and
 * how long the head of a request may take. Requests are not understood here. TLS: keys and
 * certificates, read from files, checked, and read again when the files change. What is said over a
 * connection is not known here.
 */
package lectus.server.connection;
