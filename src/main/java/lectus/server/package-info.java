/**
 * The assembly of one server: its verticles, the queues of writes and their executors, the readers'
 * turns, the connections that it accepts, the division of the heap, the waking of listeners, and
 * the cluster. What a request means is for {@link lectus.http} to say.
 */
package lectus.server;
