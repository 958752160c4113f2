/**
 * Time as an event loop sees it: timers that thousands of connections share. What a connection does
 * is not known here.
 */
package lectus.http.clock;
