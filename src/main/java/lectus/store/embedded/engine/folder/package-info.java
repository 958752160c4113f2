/**
 * The data folder: its format, its lock, and the check that its write-ahead logs are whole. The
 * package above opens RocksDB.
 */
package lectus.store.embedded.engine.folder;
