/**
 * The committer: groups of commits, one synced write each, their versions, and their atomic
 * operations. The package above opens and closes a store. Conflict detection: which key ranges were
 * written at which version. It knows neither RocksDB nor transactions.
 */
package lectus.store.embedded.engine.commit;
