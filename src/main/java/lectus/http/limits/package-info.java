/**
 * Limits on clients: the readers' threads with their fair queues and deadlines, accounts of the
 * memory that clients make a server hold, and timers that thousands of connections share. {@link
 * lectus.http.limits.VertxInternals} gives access to the Netty channel below a connection.
 */
package lectus.http.limits;
