package lectus.derived.rows;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import lectus.database.DatabaseHandle;
import lectus.database.Partition;
import lectus.database.RefusedSubspace;
import lectus.derived.SortKey;
import lectus.derived.StoredIndex;
import lectus.json.LeafView;
import lectus.json.StoredFormat;
import lectus.json.TupleReader;
import lectus.json.TupleWriter;
import lectus.revision.RevisionHash;
import lectus.revision.RevisionId;

/**
 * The entries of one index, at most one for each live document.
 *
 * <pre>
 * key    (prefix, DERIVED_ROWS, number, 1, sort key, doc id)
 *        (prefix, DERIVED_ROWS, number, 1, partition, sort key, doc id)   of a partitioned index
 * value  (format 1, position, hash, value…)
 * </pre>
 *
 * The sort key is a byte string: the {@link SortKey}s of the fields' values, one after the other,
 * each cut at {@link lectus.derived.IndexDefinition#valueBytes}. Position and hash are those of the
 * live winner. The values are as in the document; an empty byte string stands for a long value or a
 * container, which are not repeated here.
 *
 * <p>Written without conflict ranges: the revisions subspace decides conflicts.
 */
public final class IndexEntriesSubspace {
  private static final StoredFormat FORMAT = new StoredFormat(1, "An entry of an index");

  /** Longer values are read from the document. In bytes. */
  private static final int LONGEST_VALUE = 200;

  /** Follows whatever a byte string or a string of a key contains. */
  private static final int AFTER = 0xff;

  /** Stands for a value that is not here. */
  private static final byte[] ELSEWHERE = {};

  private final byte[] prefix;
  private final boolean isPartitioned;

  public IndexEntriesSubspace(DatabaseHandle db, StoredIndex index) {
    this.prefix = RefusedSubspace.part(db, index, RefusedSubspace.ENTRIES).toBytes();
    this.isPartitioned = index.definition().partitioned();
  }

  public Range range() {
    return Range.startsWith(prefix);
  }

  /** Returns the prefix of all keys, or of those of a partition. */
  public byte[] begin(Optional<Partition> partition) {
    return head(partition.map(Partition::name)).toBytes();
  }

  /** Returns the key before all keys whose sort keys begin with these bytes, or are greater. */
  public byte[] from(Optional<Partition> partition, byte[] sortKey) {
    byte[] terminated = head(partition.map(Partition::name)).bytes(sortKey).toBytes();
    return Arrays.copyOf(terminated, terminated.length - 1);
  }

  /** Returns the end of the range of all keys that begin with a key of {@link #from}. */
  public static byte[] endOf(byte[] begin) {
    return new TupleWriter(begin).octet(AFTER).toBytes();
  }

  public byte[] key(byte[] sortKey, String docId) {
    return head(Partition.ofDocument(docId).map(Partition::name))
        .bytes(sortKey)
        .string(docId)
        .toBytes();
  }

  private TupleWriter head(Optional<String> partition) {
    TupleWriter head = new TupleWriter(prefix);
    return isPartitioned && partition.isPresent() ? head.string(partition.get()) : head;
  }

  static byte[] value(RevisionId winner, List<LeafView> values) {
    return valueOf(
        winner,
        values.stream()
            .map(value -> value.type().isContainer() ? ELSEWHERE : value.element())
            .toList());
  }

  /**
   * @param values as tuple elements; an empty one is not repeated here, nor is a long one
   */
  static byte[] valueOf(RevisionId winner, List<byte[]> values) {
    TupleWriter value = new TupleWriter(64).integer(FORMAT.number()).integer(winner.position());
    winner.hash().writeTo(value);
    for (byte[] element : values) {
      if (element.length == 0 || element.length > LONGEST_VALUE) {
        value.bytes(ELSEWHERE);
      } else {
        value.raw(element);
      }
    }
    return value.toBytes();
  }

  /**
   * A document in an index.
   *
   * @param winner its live winner
   * @param values of the index's fields, as tuple elements; an empty one has to be read from the
   *     document, because it is long or a container
   */
  public record Entry(String docId, RevisionId winner, List<byte[]> values) {}

  public Entry decode(KeyValue row) {
    TupleReader key = new TupleReader(row.getKey(), prefix.length);
    if (isPartitioned && key.isString()) {
      key.string();
    }
    key.bytes();
    String docId = key.only(TupleReader::string);
    TupleReader value = FORMAT.reader(row.getValue());
    RevisionId winner = new RevisionId(value.integer(), RevisionHash.readFrom(value));
    List<byte[]> values = new ArrayList<>();
    while (value.hasNext()) {
      values.add(element(value, row.getValue()));
    }
    return new Entry(docId, winner, values);
  }

  private static byte[] element(TupleReader value, byte[] row) {
    int from = value.position();
    if (value.isBytes()) {
      value.bytes();
      return ELSEWHERE;
    }
    if (value.isNil()) {
      value.nil();
    } else if (value.isString()) {
      value.stringUtf8();
    } else if (value.isBool()) {
      value.bool();
    } else if (value.isReal()) {
      value.real();
    } else {
      value.bigInteger();
    }
    return Arrays.copyOfRange(row, from, value.position());
  }
}
