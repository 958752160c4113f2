package lectus.json;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * Some or all leaves of a document, as keys and values of the store. {@link LeafView} reads values
 * from it without building a tree. The arrays passed in must stay unchanged.
 */
public final class LeafList {
  private final int pathOffset;
  private final Comparator<Entry> byPath;
  private final List<Entry> entries;
  private boolean ordered = true;
  private boolean joined = true;

  private record Entry(byte[] key, byte[] value) {}

  /**
   * @param pathOffset offset in each key at which the leaf's path begins
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

  /** Returns all leaves of a body. */
  public static LeafList of(ExplodedBody body) {
    return of(body, ChosenPaths.ALL);
  }

  /** Returns some leaves of a body. */
  public static LeafList of(ExplodedBody body, JsonExploder.Choice choice) {
    LeafList leaves = new LeafList(0);
    body.forEachLeaf(
        choice,
        (path, pathEnd, values, value, valueEnd) ->
            leaves.add(Arrays.copyOf(path, pathEnd), Arrays.copyOfRange(values, value, valueEnd)));
    return leaves;
  }

  /** Returns a view of a value that is not a container. */
  static LeafView scalar(byte[] value) {
    LeafList leaves = new LeafList(0, 1);
    leaves.add(new byte[0], value);
    return leaves.root();
  }

  /**
   * Adds a leaf, or one row of a leaf that has several. Rows may come in any order and more than
   * once. The first row of a long string, without the others, tells only the type.
   */
  public void add(byte[] key, byte[] value) {
    Entry entry = new Entry(key, value);
    joined &= !StringParts.areBegunBy(value);
    if (!entries.isEmpty()) {
      ordered &= byPath.compare(entries.get(entries.size() - 1), entry) < 0;
    }
    entries.add(entry);
  }

  /**
   * Returns a view of the document, valid until more leaves are added.
   *
   * @throws lectus.json.MalformedTupleException if a leaf lacks some of its rows
   */
  public LeafView root() {
    if (!ordered) {
      entries.sort(byPath);
      removeDoubles();
      ordered = true;
    }
    if (!joined) {
      joinPieces();
      joined = true;
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

  private void joinPieces() {
    List<Entry> rows = List.copyOf(entries);
    entries.clear();
    int next = 0;
    while (next < rows.size()) {
      Entry first = rows.get(next++);
      boolean isRead = next < rows.size() && StringParts.isPiece(first.key, rows.get(next).key);
      if (!StringParts.areBegunBy(first.value) || !isRead) {
        entries.add(first);
        continue;
      }
      StringParts.Joining string = new StringParts.Joining(first.key, first.value);
      while (!string.reading.isComplete() && next < rows.size()) {
        Entry piece = rows.get(next++);
        string.take(piece.key, piece.value);
      }
      entries.add(new Entry(first.key, string.string()));
    }
  }
}
