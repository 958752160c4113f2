package lectus.store.embedded;

import lectus.store.embedded.engine.commit.Mutation;

/** Computes a transaction's size as a cluster does (docs/foundationdb-contract.md, section 2). */
final class TransactionSize {
  static final int LIMIT_BYTES = 10_000_000;
  static final int MIN_LIMIT_BYTES = 32;

  /** What a mutation adds besides its key and value. */
  static final int MUTATION_BYTES = 44;

  /** What a conflict range adds besides its bounds. */
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

  /** Returns the size of a single key's conflict range: its two bounds and the range's overhead. */
  static long keyRangeBytes(byte[] key) {
    return RANGE_BYTES + 2L * key.length + 1;
  }

  static long rangeBytes(byte[] begin, byte[] end) {
    return RANGE_BYTES + (long) begin.length + end.length;
  }
}
