/**
 * Snapshots of the store and reads on them: point reads, cursors, and the release of native
 * snapshots. Nothing is written here.
 */
package lectus.store.embedded.engine.read;
