/**
 * Databases by name and by instance: the catalogue, configurations, shard topologies, counters, and
 * rows of the updates log. Every transaction has its handle on a database validated by {@link
 * lectus.database.Catalogue}. Also security objects with the rights that they grant, and the
 * settings that the store keeps under CouchDB's names. Documents are not read here.
 */
package lectus.database;
