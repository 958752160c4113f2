/**
 * Replication between two databases, each of this store or behind HTTP: CouchDB's algorithm, its
 * ids and its checkpoints.
 */
package lectus.replication;
