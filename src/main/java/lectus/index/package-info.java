/**
 * What indexes are: their definitions, as CouchDB keeps them in design documents, and their states.
 * Neither entries nor the store.
 */
package lectus.index;
