/**
 * The data folder: its format, its lock, and the check that its write-ahead logs are whole. The
 * package above opens RocksDB. Maps failures of RocksDB and of the disk to FoundationDB's errors,
 * and logs each once. Nothing is repaired here.
 */
package lectus.store.embedded.engine.folder;
