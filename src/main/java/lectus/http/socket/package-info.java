/**
 * The subprotocol {@code lectus.changes.v1} (docs/lectus.changes.v1.md): messages, subscriptions,
 * credits and frames. How a request becomes a socket is not known here.
 */
package lectus.http.socket;
