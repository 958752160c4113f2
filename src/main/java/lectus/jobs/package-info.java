/**
 * One mechanism for derived rows of any kind: their definition, and the jobs that make rows of
 * documents that were stored before (<a
 * href="https://github.com/apache/couchdb-documentation/blob/rfc/018-sharded-changes-feeds/rfcs/018-sharded-changes-feeds.md">RFC
 * 018</a>, Indexers), one task for each changes shard, shared by all servers. A kind extends {@link
 * lectus.jobs.DerivedRows}, and is defined and removed by {@link lectus.jobs.FillingJobs}.
 */
package lectus.jobs;
