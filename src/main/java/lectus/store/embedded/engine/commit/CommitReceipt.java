package lectus.store.embedded.engine.commit;

/**
 * A durable commit.
 *
 * @param version the commit version
 * @param batchOrder the order among the transactions of that version, 0 to 65 535
 */
public record CommitReceipt(long version, int batchOrder) {}
