/**
 * The data folder: its format, its lock, its free space, and the check that its write-ahead logs
 * are whole. Failures of RocksDB and of the disk become FoundationDB's errors here.
 */
package lectus.store.embedded.engine.folder;
