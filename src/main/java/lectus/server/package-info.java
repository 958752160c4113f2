/**
 * The assembly of a server: its verticles, the layer, the division of the heap, the members of a
 * cluster and the events on its bus. The write pool turns waiting edits into transactions.
 */
package lectus.server;
