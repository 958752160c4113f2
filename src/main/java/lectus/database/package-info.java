/**
 * Databases by name and by life: the catalogue, configurations and shard topologies, counters, and
 * rows in the updates log. Must not know documents. Who asks, and with which rights by a database's
 * security object: values. Must not know how one logs in, nor the store. Settings that are changed
 * while servers run: the rows of the store, and what a server makes of them. They have CouchDB's
 * names. What they mean is not known here.
 */
package lectus.database;
