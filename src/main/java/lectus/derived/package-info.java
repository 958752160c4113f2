/**
 * What stored feeds are: their definitions, their limits, and the channels in which a document is.
 * Neither entries nor the store. What indexes are: their definitions, as CouchDB keeps them in
 * design documents, and their states. Neither entries nor the store.
 */
package lectus.derived;
