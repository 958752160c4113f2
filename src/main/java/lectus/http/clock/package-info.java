/** Time as an event loop sees it: timers that thousands of connections share. */
package lectus.http.clock;
