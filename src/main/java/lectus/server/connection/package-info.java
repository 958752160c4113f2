/**
 * Connections before a request exists: how many there may be, which one is closed for another, the
 * PROXY protocol, and how long the head of a request may take. Also TLS: keys and certificates,
 * read from files, checked, and read again when the files change.
 */
package lectus.server.connection;
