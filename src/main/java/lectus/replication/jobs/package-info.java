/**
 * The replications that documents of {@code _replicator} describe: which server runs which, whose
 * turn it is, and what documents are told.
 */
package lectus.replication.jobs;
