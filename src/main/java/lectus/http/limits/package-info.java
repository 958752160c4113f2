/**
 * Time as an event loop sees it: timers that thousands of connections share. What a connection does
 * is not known here. What clients make a server hold, counted. Connections are not known here. What
 * Vert.x keeps to itself: the Netty channel below a connection, and frames made of bytes. Requests
 * that wait: clients take turns at the readers' threads. A request that has waited too long, or
 * waits for a store that does not answer, gets an error. What the work does is of no concern here.
 */
package lectus.http.limits;
