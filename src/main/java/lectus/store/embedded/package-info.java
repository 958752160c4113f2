/**
 * Implements FoundationDB's interfaces on the embedded engine, as docs/foundationdb-contract.md
 * specifies.
 *
 * <p>An {@link lectus.store.embedded.EmbeddedDatabase} creates {@code EmbeddedTransaction}s. Each
 * is the facade of one {@code Attempt}, which holds all state under one monitor. A {@code
 * RetryPolicy} holds what a transaction's attempts share. {@code AttemptReads} and {@code
 * AttemptWrites} work on the attempt, {@code Commit} ends it:
 *
 * <ul>
 *   <li>a write is appended to the {@code OwnWrites}, which becomes a {@code WriteMap} only when a
 *       read may see it;
 *   <li>a read takes {@code VisibleRows}: the engine's cursor itself where there are no own writes,
 *       otherwise a {@code MergedCursor}; its {@code ConflictRanges} are the keys that the store
 *       decides, not own writes;
 *   <li>a commit hands the engine the merged conflict ranges and the mutations in their order.
 * </ul>
 *
 * <p>Reads run on the caller's thread, one at a time for each transaction, and return completed
 * futures. The future of a commit completes on a thread of the engine, so dependent work that may
 * block belongs on another executor.
 */
package lectus.store.embedded;
