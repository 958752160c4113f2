/**
 * Conflict detection: which key ranges were written at which version. It knows neither RocksDB nor
 * transactions.
 */
package lectus.store.embedded.engine.conflict;
