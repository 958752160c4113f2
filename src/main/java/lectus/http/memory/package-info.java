/** What clients make a server hold, counted. Connections are not known here. */
package lectus.http.memory;
