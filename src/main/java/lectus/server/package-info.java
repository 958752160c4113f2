/**
 * The assembly of one server: its verticles, the layer on the store, the division of the heap. The
 * packages below do the work; {@link lectus.http} handles requests. The servers beside this one:
 * joining a cluster, its members, and the event channel on its bus. {@link lectus.changes.notify}
 * knows nothing of it. Requests from one member of a cluster to another over the event bus: {@code
 * lectus.server.MemberBus} asks, {@code lectus.server.MemberRequestHandler} answers. Whose rights
 * they are was checked where they came from; each is signed with a secret that only servers of the
 * same store know. What is asked is not known here.
 */
package lectus.server;
