package lectus.json;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * Some or all leaves of a document, as keys and values of the store, from which {@link LeafView}
 * reads values without building a tree of them. The arrays handed in must stay unchanged.
 */
public final class LeafList {
  private final int pathOffset;
  private final Comparator<Entry> byPath;
  private final List<Entry> entries;
  private boolean ordered = true;

  private record Entry(byte[] key, byte[] value) {}

  /**
   * @param pathOffset where in each key the leaf's path begins
   */
  public LeafList(int pathOffset) {
    this(pathOffset, 8);
  }

  private LeafList(int pathOffset, int capacity) {
    this.pathOffset = pathOffset;
    this.byPath =
        (a, b) ->
            Arrays.compareUnsigned(
                a.key, pathOffset, a.key.length, b.key, pathOffset, b.key.length);
    this.entries = new ArrayList<>(capacity);
  }

  /** All leaves of a body. */
  public static LeafList of(ExplodedBody body) {
    LeafList leaves = new LeafList(0, body.leaves().size());
    body.leaves().forEach(leaf -> leaves.add(leaf.path(), leaf.value()));
    return leaves;
  }

  /** A value that is no container. */
  static LeafView scalar(byte[] value) {
    LeafList leaves = new LeafList(0, 1);
    leaves.add(new byte[0], value);
    return leaves.root();
  }

  /** Adds a leaf, in any order; one that was added before may come again. */
  public void add(byte[] key, byte[] value) {
    Entry entry = new Entry(key, value);
    if (!entries.isEmpty()) {
      ordered &= byPath.compare(entries.get(entries.size() - 1), entry) < 0;
    }
    entries.add(entry);
  }

  /** The document, for as long as no more leaves are added. */
  public LeafView root() {
    if (!ordered) {
      entries.sort(byPath);
      removeDoubles();
      ordered = true;
    }
    return new LeafView(this, 0, entries.size(), pathOffset, pathOffset);
  }

  byte[] key(int index) {
    return entries.get(index).key;
  }

  byte[] value(int index) {
    return entries.get(index).value;
  }

  private void removeDoubles() {
    List<Entry> once = new ArrayList<>(entries.size());
    for (Entry entry : entries) {
      if (once.isEmpty() || byPath.compare(once.get(once.size() - 1), entry) != 0) {
        once.add(entry);
      }
    }
    entries.clear();
    entries.addAll(once);
  }
}
