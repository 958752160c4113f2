/**
 * Resources that tell of changes: {@code _changes} of a database or a shard, {@code _db_updates},
 * and the WebSocket for many databases. {@link lectus.http.changes.ChangesApi} has them all. How a
 * feed runs is for {@link lectus.http.changes} to say. Live feeds of one event loop: listeners that
 * read on their own or share a tail, and the forms in which rows reach a client (docs/feeds.md,
 * "Live feeds"). Which resource answers is not known here.
 */
package lectus.http.changes;
