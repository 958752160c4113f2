/** What clients make a server hold, counted. */
package lectus.http.memory;
