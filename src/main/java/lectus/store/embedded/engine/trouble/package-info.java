/**
 * Maps failures of RocksDB and of the disk to FoundationDB's errors, and logs each once. Nothing is
 * repaired here.
 */
package lectus.store.embedded.engine.trouble;
