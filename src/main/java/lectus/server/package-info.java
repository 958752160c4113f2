/**
 * The assembly of one server: its verticles, the layer on the store, the division of the heap. The
 * packages below do the work; {@link lectus.http} handles requests.
 */
package lectus.server;
