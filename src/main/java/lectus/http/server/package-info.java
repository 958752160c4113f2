/**
 * Resources that are the server itself: its greeting, its health, its cluster, sessions, the idle
 * scheduler of replications, its pages for browsers. {@link lectus.http.server.ServerResources} has
 * them all.
 */
package lectus.http.server;
