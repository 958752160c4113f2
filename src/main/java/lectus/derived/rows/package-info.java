/**
 * The rows of a document in indexes and in stored feeds, written in the transaction that writes the
 * document. {@link lectus.derived.rows.DerivedRows} says what a kind of derived rows is; jobs fill
 * in older documents by changes shard, on all servers (RFC 018, Indexers).
 */
package lectus.derived.rows;
