/**
 * Mango's requests: definitions of indexes, queries, the choice of an index for a query, and the
 * answers. Nothing is written here.
 */
package lectus.mango.query;
