/**
 * The engine of the embedded store on RocksDB: opens, runs, reopens and closes it. fdb-java's
 * transactions build on {@link lectus.store.embedded.engine.Engine} and use nothing of RocksDB.
 *
 * <p>The committer has groups of commits, each made durable by one synced write, their versions,
 * and their atomic operations; {@code ConflictHistory} has the key ranges that were written at each
 * version. Reads are made on snapshots of the store: point reads, cursors, and the release of
 * native snapshots.
 */
package lectus.store.embedded.engine;
