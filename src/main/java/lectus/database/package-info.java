/**
 * Databases by name and by life: the catalogue, a database's configuration and shard topology, its
 * counters, and the rows that it leaves in the updates log. What documents are is not known here.
 */
package lectus.database;
