/**
 * What a database derives of its documents: the definitions of indexes, as CouchDB keeps them in
 * design documents, and of stored feeds, with their limits, their numbers and states, and the
 * values or channels that a document has in them. Where their rows lie, other packages say.
 */
package lectus.derived;
