/**
 * Databases by name and by life: the catalogue, configurations and shard topologies, counters, and
 * rows in the updates log. Must not know documents.
 */
package lectus.database;
