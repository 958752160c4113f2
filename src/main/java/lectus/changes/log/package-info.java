/**
 * The changes index (<a
 * href="https://github.com/apache/couchdb/blob/main/src/docs/rfcs/003-fdb-seq-index.md">RFC
 * 003</a>, <a
 * href="https://github.com/apache/couchdb-documentation/blob/rfc/018-sharded-changes-feeds/rfcs/018-sharded-changes-feeds.md">RFC
 * 018</a>): the layout of an entry, its blind insert and clear, and the range read of one shard.
 * Also the purges of a database, and the updates log of the whole store, read in order and
 * compacted. Documents are not read here.
 */
package lectus.changes.log;
