package lectus.store.contract.model;

import com.apple.foundationdb.MutationType;

/** One write of a transaction, as it was called. */
sealed interface Write {

  record Put(byte[] key, byte[] value) implements Write {}

  record Erase(Span keys) implements Write {}

  record Atomic(MutationType type, byte[] key, byte[] operand) implements Write {}

  /**
   * {@code head} is the number of bytes of {@code template} before the ten bytes of the
   * versionstamp.
   */
  record StampedValue(byte[] key, byte[] template, int head) implements Write {}

  /** {@code hides} is the span that cannot be read from here on. */
  record StampedKey(byte[] template, int head, byte[] value, Span hides) implements Write {}
}
