package lectus.store.embedded.engine.commit;

/**
 * The limits of a group of commits and of the queue.
 *
 * @param transactions the most commits that share one synced write
 * @param bytes the most bytes of mutations and conflict ranges that share one synced write
 * @param queuedBytes the bytes of waiting commits beyond which further ones fail with 1042
 */
public record GroupLimits(int transactions, long bytes, long queuedBytes) {}
