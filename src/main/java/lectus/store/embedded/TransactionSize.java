package lectus.store.embedded;

import lectus.store.embedded.engine.Mutation;

/** How a cluster counts the bytes of a transaction (docs/foundationdb-contract.md, section 2). */
final class TransactionSize {
  static final int LIMIT_BYTES = 10_000_000;
  static final int LEAST_LIMIT_BYTES = 32;

  /** What a mutation weighs beside its key and value. */
  static final int MUTATION_BYTES = 44;

  /** What a conflict range weighs beside its bounds. */
  static final int RANGE_BYTES = 24;

  private TransactionSize() {}

  static long contentBytes(Mutation mutation) {
    if (mutation instanceof Mutation.Set set) {
      return (long) set.key().length + set.value().length;
    }
    if (mutation instanceof Mutation.Clear clear) {
      return (long) clear.begin().length + clear.end().length;
    }
    Mutation.Atomic atomic = (Mutation.Atomic) mutation;
    return (long) atomic.key().length + atomic.operand().length;
  }

  /** The conflict range of one key: its two bounds and what a range weighs. */
  static long keyRangeBytes(byte[] key) {
    return RANGE_BYTES + 2L * key.length + 1;
  }

  static long rangeBytes(byte[] begin, byte[] end) {
    return RANGE_BYTES + (long) begin.length + end.length;
  }
}
