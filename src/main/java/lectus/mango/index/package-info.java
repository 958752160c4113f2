/**
 * Indexes in the store: their entries, which the transaction has that writes a document, and how an
 * index comes to have the documents that were there before it. Queries are not known here.
 */
package lectus.mango.index;
