/**
 * Resources that tell of changes: {@code _changes} of a database or a shard, {@code _db_updates},
 * and the WebSocket for many databases. {@link lectus.http.changes.ChangesResources} has them all.
 */
package lectus.http.changes;
