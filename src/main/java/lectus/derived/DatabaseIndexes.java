package lectus.derived;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import lectus.json.FieldPath;
import lectus.mango.selector.LeafRead;
import lectus.mango.selector.NeededLeaves;
import lectus.mango.selector.Selector;

/** The indexes of a database, in the order of their numbers. */
public final class DatabaseIndexes {
  public static final DatabaseIndexes NONE = new DatabaseIndexes(List.of());

  private final List<StoredIndex> all;
  private final List<LeafRead> reads;
  private final long heapBytes;

  public DatabaseIndexes(List<StoredIndex> all) {
    this.all = List.copyOf(all);
    this.reads = reads(all);
    this.heapBytes = all.stream().mapToLong(it -> it.definition().heapBytes()).sum();
  }

  /** Returns the parts of documents that decide what some indexes have of them. */
  public static List<LeafRead> reads(List<StoredIndex> indexes) {
    List<Selector> filters = new ArrayList<>();
    List<FieldPath> fields = new ArrayList<>();
    for (StoredIndex index : indexes) {
      index.values().filter().ifPresent(filters::add);
      fields.addAll(index.definition().paths());
    }
    return NeededLeaves.of(filters, fields);
  }

  public List<StoredIndex> all() {
    return all;
  }

  public boolean isEmpty() {
    return all.isEmpty();
  }

  /** Returns the parts of documents that decide what the indexes have of them. */
  public List<LeafRead> reads() {
    return reads;
  }

  /** Returns the indexes of a design document. */
  public List<StoredIndex> of(String design) {
    return all.stream().filter(it -> it.definition().design().equals(design)).toList();
  }

  public Optional<StoredIndex> numbered(long number) {
    return all.stream().filter(it -> it.number() == number).findFirst();
  }

  /** Returns approximate memory, in bytes. */
  public long heapBytes() {
    return heapBytes;
  }
}
