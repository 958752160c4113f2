package lectus.changes.log;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import lectus.database.Sequence;
import lectus.json.TupleReader;
import lectus.json.TupleWriter;

/**
 * Entries of one shard, or of one channel of a stored feed, in the order they were read. Each is
 * decoded only on request, because merging compares many entries and shows few.
 */
public final class EntryRows<E> {
  /** Above every type code with which the tuple encoding of a sequence begins. */
  static final int AFTER_SEQUENCES = 0xff;

  private final List<KeyValue> rows;
  private final int sequenceOffset;
  private final BiFunction<Sequence, byte[], E> decoder;

  private EntryRows(
      List<KeyValue> rows, int sequenceOffset, BiFunction<Sequence, byte[], E> decoder) {
    this.rows = rows;
    this.sequenceOffset = sequenceOffset;
    this.decoder = decoder;
  }

  /**
   * Reads entries in one range read.
   *
   * @param head what the keys of all begin with, up to the sequence
   */
  public static <E> CompletableFuture<EntryRows<E>> read(
      ReadTransaction tx,
      TupleWriter head,
      EntryRange some,
      BiFunction<Sequence, byte[], E> decoder) {
    byte[] all = head.toBytes();
    byte[] begin = some.after().map(it -> behind(all, it)).orElse(all);
    byte[] end =
        some.until()
            .map(it -> behind(all, it))
            .orElseGet(() -> new TupleWriter(all).octet(AFTER_SEQUENCES).toBytes());
    return tx.getRange(begin, end, some.limit(), some.reverse())
        .asList()
        .thenApply(rows -> new EntryRows<>(rows, all.length, decoder));
  }

  /** Returns the first key behind the entry with a sequence. */
  static byte[] behind(byte[] head, Sequence sequence) {
    TupleWriter key = new TupleWriter(head);
    sequence.writeTo(key);
    return key.octet(0).toBytes();
  }

  public int size() {
    return rows.size();
  }

  public Sequence sequence(int row) {
    return new TupleReader(rows.get(row).getKey(), sequenceOffset).only(Sequence::readFrom);
  }

  public E entry(int row) {
    return decoder.apply(sequence(row), rows.get(row).getValue());
  }

  public List<E> entries() {
    List<E> entries = new ArrayList<>(rows.size());
    for (int row = 0; row < rows.size(); row++) {
      entries.add(entry(row));
    }
    return entries;
  }

  /** Compares two entries' sequences in encoded form, which sorts like the sequences. */
  public static int compare(EntryRows<?> left, int leftRow, EntryRows<?> right, int rightRow) {
    byte[] leftKey = left.rows.get(leftRow).getKey();
    byte[] rightKey = right.rows.get(rightRow).getKey();
    return Arrays.compareUnsigned(
        leftKey,
        left.sequenceOffset,
        leftKey.length,
        rightKey,
        right.sequenceOffset,
        rightKey.length);
  }

  /**
   * Which entries to read.
   *
   * @param after entries after this sequence; empty: from the first
   * @param until entries up to and including this sequence; empty: to the last
   * @param limit maximum number of entries; 0 for all
   * @param reverse newest first; the limit then counts from the newest
   */
  public record EntryRange(
      Optional<Sequence> after, Optional<Sequence> until, int limit, boolean reverse) {
    public static EntryRange after(Optional<Sequence> sequence, int limit) {
      return new EntryRange(sequence, Optional.empty(), limit, false);
    }

    public EntryRange first(int count) {
      return new EntryRange(after, until, count, reverse);
    }

    /** Returns those that follow the last one that was read. */
    public EntryRange rest(Sequence last, int count) {
      return reverse
          ? new EntryRange(after, Optional.of(last.predecessor()), count, true)
          : new EntryRange(Optional.of(last), until, count, false);
    }
  }
}
