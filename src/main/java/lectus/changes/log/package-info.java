/**
 * The changes index (<a
 * href="https://github.com/apache/couchdb/blob/main/src/docs/rfcs/003-fdb-seq-index.md">RFC
 * 003</a>, <a
 * href="https://github.com/apache/couchdb-documentation/blob/rfc/018-sharded-changes-feeds/rfcs/018-sharded-changes-feeds.md">RFC
 * 018</a>): the layout of an entry, its blind insert and clear, and the range read of one shard.
 * Merging, filtering and showing entries belong further up. The updates log of the whole store:
 * reading it in order and compacting it. {@link lectus.database.UpdatesSubspace} encodes its rows.
 * This package knows nothing of documents.
 */
package lectus.changes.log;
