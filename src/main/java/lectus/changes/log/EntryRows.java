package lectus.changes.log;

import com.apple.foundationdb.KeyValue;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.BiFunction;
import lectus.database.Sequence;
import lectus.json.TupleReader;

/**
 * Entries of one shard, or of one channel of a stored feed, in the order they were read. Each is
 * decoded only on request, because merging compares many entries and shows few.
 */
public final class EntryRows<E> {
  private final List<KeyValue> rows;
  private final int sequenceOffset;
  private final BiFunction<Sequence, byte[], E> decoder;

  /**
   * @param sequenceOffset offset in each key at which the sequence begins, which ends the key
   * @param decoder makes an entry of a sequence and a value
   */
  public EntryRows(
      List<KeyValue> rows, int sequenceOffset, BiFunction<Sequence, byte[], E> decoder) {
    this.rows = rows;
    this.sequenceOffset = sequenceOffset;
    this.decoder = decoder;
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
}
