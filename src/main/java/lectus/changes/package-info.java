/**
 * The changes index (RFC 003, RFC 018): the layout of an entry, its blind insert and clear, and the
 * range read of one shard. Shards are merged, filtered and shown further up.
 */
package lectus.changes;
