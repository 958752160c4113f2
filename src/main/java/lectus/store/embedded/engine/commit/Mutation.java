package lectus.store.embedded.engine.commit;

import com.apple.foundationdb.MutationType;
import java.util.Arrays;

/** One change of a commit. A commit's mutations are applied in order. */
public sealed interface Mutation {

  /** Stores {@code value} under {@code key}. */
  record Set(byte[] key, byte[] value) implements Mutation {}

  /** Removes every key in {@code [begin, end)}. */
  record Clear(byte[] begin, byte[] end) implements Mutation {
    /** Returns whether the range contains no key but {@code begin}. */
    boolean isOfOneKey() {
      return end.length == begin.length + 1
          && end[begin.length] == 0
          && Arrays.mismatch(begin, end) == begin.length;
    }
  }

  /**
   * Writes a range tombstone over {@code [begin, end)}, in which the transaction saw no rows. Its
   * commit loses if the range has rows by then, even where no write declared a conflict.
   */
  record Cover(byte[] begin, byte[] end) implements Mutation {}

  /**
   * An atomic operation, which the committer resolves against the state before its transaction. For
   * the two versionstamped forms {@code key} (SET_VERSIONSTAMPED_KEY) or {@code operand}
   * (SET_VERSIONSTAMPED_VALUE) still ends in its 4-byte little-endian offset, already validated.
   */
  record Atomic(MutationType type, byte[] key, byte[] operand) implements Mutation {}
}
