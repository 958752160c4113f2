/**
 * The committer: groups of commits, one synced write each, their versions, and their atomic
 * operations. The package above opens and closes a store.
 */
package lectus.store.embedded.engine.commit;
