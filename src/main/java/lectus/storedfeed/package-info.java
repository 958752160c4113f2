/**
 * Stored feeds in the store: their entries, which the transaction has that writes a document, and
 * the rows that tell where a document has left. Readers are not known here.
 */
package lectus.storedfeed;
