/**
 * Jobs by which something that is kept of documents gets those that were there before it (<a
 * href="https://github.com/apache/couchdb-documentation/blob/rfc/018-sharded-changes-feeds/rfcs/018-sharded-changes-feeds.md">RFC
 * 018</a>, Indexers): one task for each changes shard, shared by all servers. What is kept is not
 * known here.
 *
 * <p>Whoever keeps something in the transaction that writes a document implements {@link
 * lectus.jobs.Filled} and {@link lectus.jobs.FilledKind}, and calls {@link
 * lectus.jobs.FillingJobs#begin} in the transaction that defines it.
 */
package lectus.jobs;
