/**
 * The engine of the embedded store on RocksDB: versions, snapshots, conflict detection, the
 * committer, the data folder, and what happens when its disk fails. fdb-java's transactions stand
 * on {@link lectus.store.embedded.engine.Engine} and know nothing of RocksDB.
 */
package lectus.store.embedded.engine;
