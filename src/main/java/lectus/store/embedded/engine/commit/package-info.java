/**
 * The committer: groups of commits, each made durable by one synced write, their versions, and
 * their atomic operations. {@code ConflictHistory} has the key ranges that were written at each
 * version.
 */
package lectus.store.embedded.engine.commit;
