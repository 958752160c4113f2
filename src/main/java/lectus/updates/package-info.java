/**
 * The updates log of the whole store: reading it in order and compacting it. {@link
 * lectus.database.UpdatesSubspace} encodes its rows. This package knows nothing of documents.
 */
package lectus.updates;
