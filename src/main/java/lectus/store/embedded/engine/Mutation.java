package lectus.store.embedded.engine;

import com.apple.foundationdb.MutationType;
import java.util.Arrays;

/** One change of a commit; the mutations of a commit are applied in their order. */
public sealed interface Mutation {

  /** Stores {@code value} under {@code key}. */
  record Set(byte[] key, byte[] value) implements Mutation {}

  /** Removes every key in {@code [begin, end)}. */
  record Clear(byte[] begin, byte[] end) implements Mutation {
    /** Whether the range can hold no key but {@code begin}. */
    boolean isOfOneKey() {
      return end.length == begin.length + 1
          && end[begin.length] == 0
          && Arrays.mismatch(begin, end) == begin.length;
    }
  }

  /**
   * Writes a range tombstone over {@code [begin, end)}, in which the transaction saw nothing: its
   * commit loses if there is something by then, if only where no transaction asked to conflict.
   */
  record Cover(byte[] begin, byte[] end) implements Mutation {}

  /**
   * An atomic operation, resolved by the committer against the state that its transaction follows.
   * For the two versionstamped forms {@code key} (SET_VERSIONSTAMPED_KEY) or {@code operand}
   * (SET_VERSIONSTAMPED_VALUE) still ends in its 4-byte little-endian offset, already validated.
   */
  record Atomic(MutationType type, byte[] key, byte[] operand) implements Mutation {}
}
