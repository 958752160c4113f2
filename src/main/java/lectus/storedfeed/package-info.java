/**
 * Entries of stored feeds: written in the transaction that writes a document, with the rows that
 * record where a document has left a channel.
 */
package lectus.storedfeed;
