/**
 * FoundationDB's interfaces on the embedded engine, after docs/foundationdb-contract.md.
 *
 * <p>An {@link lectus.store.embedded.EmbeddedDatabase} makes {@code EmbeddedTransaction}s. Each of
 * them is the face of one {@code Attempt}, which holds all state under one monitor; what several
 * attempts of a transaction share is their {@code RetryPolicy}. {@code Reads} and {@code Mutators}
 * work on the attempt, {@code Commit} ends it:
 *
 * <ul>
 *   <li>a write is appended to the {@code WriteLog}, which becomes a {@code WriteMap} only when a
 *       read may see it;
 *   <li>a read takes {@code VisibleRows}: the engine's cursor as it is where nothing own lies in
 *       the way, else a {@code MergedCursor}; its {@code ConflictRanges} are what the store, and
 *       not an own write, decides;
 *   <li>a commit hands the engine the merged conflict ranges and the mutations in their order.
 * </ul>
 *
 * <p>Reads run on the caller's thread, one at a time for each transaction, and their futures are
 * done when they are returned. The future of a commit completes on a thread of the engine: what
 * depends on it and may block belongs on another executor.
 */
package lectus.store.embedded;
