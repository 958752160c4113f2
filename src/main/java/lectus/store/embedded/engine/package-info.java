/**
 * The engine of the embedded store on RocksDB: opens, runs, reopens and closes it. fdb-java's
 * transactions build on {@link lectus.store.embedded.engine.Engine} and use nothing of RocksDB.
 */
package lectus.store.embedded.engine;
