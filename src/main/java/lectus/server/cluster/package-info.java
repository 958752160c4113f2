/**
 * The servers beside this one: joining a cluster, its members, and the event channel on its bus.
 * {@link lectus.server.waking} knows nothing of it.
 */
package lectus.server.cluster;
