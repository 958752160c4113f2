/**
 * The assembly of one server: its verticles, the layer on the store, the division of the heap. Also
 * its cluster: the members, the channel of events on the bus, and signed requests from one member
 * to another ({@code MemberBus}, {@code MemberRequestHandler}).
 */
package lectus.server;
