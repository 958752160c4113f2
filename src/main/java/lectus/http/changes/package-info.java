/**
 * Resources that tell of changes: {@code _changes} of a database or a shard, {@code _db_updates},
 * and the WebSocket for many databases. {@link lectus.http.changes.ChangesApi} has them all. How a
 * feed runs is for {@link lectus.http.live} to say.
 */
package lectus.http.changes;
