package lectus.store.embedded.engine;

import com.apple.foundationdb.MutationType;
import java.util.Arrays;
import java.util.List;

/**
 * One transaction's request to the committer.
 *
 * @param readVersion the version its reads saw, or -1 if it took none (it then conflicts with
 *     nothing)
 * @param readConflicts merged and sorted; empty for a transaction that cannot lose
 * @param writeConflicts merged and sorted; the committer adds the final keys of
 *     SET_VERSIONSTAMPED_KEY
 * @param mutations in the order they were made
 * @param allRecorded whether {@code writeConflicts} contains the keys of every mutation
 * @param urgent whether it may commit while the disk is short of space, because it frees space
 */
public record CommitRequest(
    long readVersion,
    List<KeyRange> readConflicts,
    List<KeyRange> writeConflicts,
    List<Mutation> mutations,
    boolean allRecorded,
    boolean urgent) {

  /**
   * A durable commit.
   *
   * @param version the commit version
   * @param batchOrder the order among the transactions of that version, 0 to 65 535
   */
  public record CommitReceipt(long version, int batchOrder) {}

  /** A half-open range of keys, compared as unsigned bytes: {@code begin <= key < end}. */
  public record KeyRange(byte[] begin, byte[] end) implements Comparable<KeyRange> {

    /** Returns the range that contains only {@code key}: [key, key‖00). */
    public static KeyRange of(byte[] key) {
      return new KeyRange(key, Arrays.copyOf(key, key.length + 1));
    }

    public long bytes() {
      return (long) begin.length + end.length;
    }

    /** In the order of where they begin. */
    @Override
    public int compareTo(KeyRange other) {
      return Arrays.compareUnsigned(begin, other.begin);
    }
  }

  /** One change of a commit. A commit's mutations are applied in order. */
  public sealed interface Mutation {
    /** Returns the size of its keys and values. */
    long bytes();

    record Set(byte[] key, byte[] value) implements Mutation {
      @Override
      public long bytes() {
        return (long) key.length + value.length;
      }
    }

    /** Removes every key in {@code [begin, end)}. */
    record Clear(byte[] begin, byte[] end) implements Mutation {
      @Override
      public long bytes() {
        return (long) begin.length + end.length;
      }

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
    record Cover(byte[] begin, byte[] end) implements Mutation {
      @Override
      public long bytes() {
        return (long) begin.length + end.length;
      }
    }

    /**
     * An atomic operation, which the committer resolves against the state before its transaction.
     * For the two versionstamped forms {@code key} (SET_VERSIONSTAMPED_KEY) or {@code operand}
     * (SET_VERSIONSTAMPED_VALUE) still ends in its 4-byte little-endian offset, already validated.
     */
    record Atomic(MutationType type, byte[] key, byte[] operand) implements Mutation {
      @Override
      public long bytes() {
        return (long) key.length + operand.length;
      }
    }
  }
}
