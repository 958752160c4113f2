/**
 * The rows that are derived of documents, whatever their kind, and the jobs by which they get those
 * of documents that were there before them (<a
 * href="https://github.com/apache/couchdb-documentation/blob/rfc/018-sharded-changes-feeds/rfcs/018-sharded-changes-feeds.md">RFC
 * 018</a>, Indexers): one task for each changes shard, shared by all servers.
 *
 * <p>A kind extends {@link lectus.jobs.DerivedRows}, and is defined and removed by {@link
 * lectus.jobs.FillingJobs}.
 */
package lectus.jobs;
