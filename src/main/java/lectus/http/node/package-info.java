/**
 * Resources of the server itself: its greeting, its health, its cluster, sessions, the idle
 * scheduler of replications, its pages for browsers. {@link lectus.http.node.NodeApi} has them all.
 * No database is opened here.
 */
package lectus.http.node;
