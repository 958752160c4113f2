/**
 * Resources of changes ({@link lectus.http.changes.ChangesApi}), the live feeds of an event loop,
 * which read alone or share a tail, the forms in which rows reach a client, WebSockets for text
 * messages, and the subprotocol {@code lectus.changes.v1} (docs/lectus.changes.v1.md).
 */
package lectus.http.changes;
