/**
 * Entries of indexes: written in the transaction that writes a document, and computed for jobs and
 * for {@code lectus check}. Queries belong to {@link lectus.mango.query}.
 */
package lectus.mango.index;
