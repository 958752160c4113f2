/**
 * The subprotocol {@code lectus.changes.v1} (docs/lectus.changes.v1.md): messages, subscriptions,
 * credits and frames. The upgrade of a request to a socket is not done here.
 */
package lectus.http.websocket;
