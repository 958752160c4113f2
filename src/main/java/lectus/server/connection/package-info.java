/**
 * Connections as they are accepted: how many there may be, which one is evicted for another, and
 * how long the head of a request may take. Requests are not understood here.
 */
package lectus.server.connection;
