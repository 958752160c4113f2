/**
 * Snapshots of the store and reads on them: point reads, cursors, and the release of native
 * snapshots.
 */
package lectus.store.embedded.engine.read;
