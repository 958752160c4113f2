/**
 * Resources that are the server itself: its greeting, its health, its cluster, its example page.
 * {@link lectus.http.server.ServerResources} has them all.
 */
package lectus.http.server;
