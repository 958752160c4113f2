package lectus.changes;

import com.apple.foundationdb.KeyValue;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import lectus.database.Sequence;
import lectus.tuple.TupleReader;

/**
 * Entries of one shard in the order they were read. Each is decoded only on request, because
 * merging shards compares many entries and shows few.
 */
public final class EntryRows {
  private final List<KeyValue> rows;
  private final int sequenceOffset;

  /**
   * @param sequenceOffset offset in each key at which the sequence begins
   */
  EntryRows(List<KeyValue> rows, int sequenceOffset) {
    this.rows = rows;
    this.sequenceOffset = sequenceOffset;
  }

  public int size() {
    return rows.size();
  }

  public Sequence sequence(int row) {
    return Sequence.readFrom(new TupleReader(rows.get(row).getKey(), sequenceOffset));
  }

  public ChangeEntry entry(int row) {
    return ChangesSubspace.decode(sequence(row), rows.get(row).getValue());
  }

  public List<ChangeEntry> entries() {
    List<ChangeEntry> entries = new ArrayList<>(rows.size());
    for (int row = 0; row < rows.size(); row++) {
      entries.add(entry(row));
    }
    return entries;
  }

  /** Compares two entries' sequences in encoded form, which sorts like the sequences. */
  public static int compare(EntryRows left, int leftRow, EntryRows right, int rightRow) {
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
