/**
 * The updates log of the whole store: reading it in order, and compacting it. Its rows are encoded
 * in {@link lectus.database.UpdatesSubspace}. Documents are not known here.
 */
package lectus.updates;
