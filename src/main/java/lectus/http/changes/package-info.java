/**
 * Resources of changes: {@code _changes} of a database or a shard, {@code _db_updates}, and the
 * WebSocket for many databases with its subprotocol {@code lectus.changes.v1}
 * (docs/lectus.changes.v1.md). {@link lectus.http.changes.ChangesApi} has them all. Also the live
 * feeds of one event loop: listeners that read alone or share a tail, and the forms in which rows
 * reach a client (docs/feeds.md, "Live feeds").
 */
package lectus.http.changes;
