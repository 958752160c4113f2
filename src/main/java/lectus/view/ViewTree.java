package lectus.view;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import lectus.store.Awaiting;
import lectus.view.Reducer.ReducedRow;
import lectus.view.ViewRows.Emitted;
import lectus.view.ViewRows.Summary;

/**
 * The nodes above the rows of one view: a tree whose shape depends on its rows alone, and not on
 * the order in which they came. A row begins a node of level L if a hash of the index's salt and
 * the row's place ends in 6·L zero bits, so a node has about 64 children. It reaches up to where
 * the next of its level begins. What lies before the first such row has a node of its own, without
 * a place. There is no root that all writers write, nothing is ever split, and an index that was
 * changed for years equals one that was built anew, byte for byte.
 *
 * <p>A node has the number of rows below it, their bytes, and their reduction. It is made of its
 * children of the level below, all of them.
 */
final class ViewTree {
  /** There are some 10⁹ rows for each node of the highest level. */
  static final int TOP = 5;

  /** The place of the first node of each level. */
  static final byte[] FIRST = {};

  /** Bytes of rows that are loaded to change nodes. */
  private static final long MAX_LOADED_BYTES = 8L << 20;

  private static final int BITS_A_LEVEL = 6;
  private static final long MULTIPLIER = 0x9E3779B97F4A7C15L;
  private static final long FIRST_MIX = 0xBF58476D1CE4E5B9L;
  private static final long SECOND_MIX = 0x94D049BB133111EBL;
  private static final int FIRST_SHIFT = 30;
  private static final int SECOND_SHIFT = 27;
  private static final int LAST_SHIFT = 31;
  private static final int BYTE_MASK = 0xff;

  private final ViewRows rows;
  private final int view;
  private final long salt;
  private final Reducer reducer;
  private long loadedBytes;

  ViewTree(ViewRows rows, int view, long salt, Reducer reducer) {
    this.rows = rows;
    this.view = view;
    this.salt = salt;
    this.reducer = reducer;
  }

  /** Thrown if so many rows would have to be loaded that all nodes are better made anew. */
  static final class TooMuch extends RuntimeException {
    TooMuch() {
      super("Too many rows have to be loaded", null, false, false);
    }
  }

  /** A row, a node that is stored, or one that is being made. */
  sealed interface Child permits Stored, Node {
    byte[] place();

    Summary summary();
  }

  /**
   * @param emitted of a row
   */
  private record Stored(byte[] place, Optional<Emitted> emitted, Summary summary) implements Child {
    static Stored ofRow(byte[] place, Emitted emitted) {
      return new Stored(place, Optional.of(emitted), summaryOf(place, emitted));
    }
  }

  /** A node whose children are known. */
  private static final class Node implements Child {
    private final byte[] place;
    private final List<Child> children = new ArrayList<>();
    private Summary summary;

    Node(byte[] place) {
      this.place = place;
    }

    @Override
    public byte[] place() {
      return place;
    }

    @Override
    public Summary summary() {
      return summary;
    }
  }

  /**
   * Nodes to write.
   *
   * @param levels of each level from 1 on: nodes by place; empty: there is none
   */
  record Changes(List<NavigableMap<byte[], Optional<Child>>> levels) {}

  /** Returns what a node of one row would have. */
  static Summary summaryOf(byte[] place, Emitted row) {
    long bytes = (long) place.length + row.key().length + row.value().length;
    return new Summary(1, bytes, Reducer.NOTHING);
  }

  /** Returns the highest level at which a place begins a node. */
  int levelOf(byte[] place) {
    return place.length == 0 ? TOP : levelOf(salt, place);
  }

  private static int levelOf(long salt, byte[] place) {
    long hash = salt;
    for (byte b : place) {
      hash = (hash ^ (b & BYTE_MASK)) * MULTIPLIER;
      hash ^= hash >>> LAST_SHIFT;
    }
    hash = (hash ^ (hash >>> FIRST_SHIFT)) * FIRST_MIX;
    hash = (hash ^ (hash >>> SECOND_SHIFT)) * SECOND_MIX;
    hash ^= hash >>> LAST_SHIFT;
    return Math.min(TOP, Long.numberOfTrailingZeros(hash) / BITS_A_LEVEL);
  }

  static <T> NavigableMap<byte[], T> byPlace() {
    return new TreeMap<>(Arrays::compareUnsigned);
  }

  /**
   * Finds out which nodes change, and loads what they are made of.
   *
   * @param changed rows by place; empty: removed
   */
  Changes plan(ReadTransaction tx, NavigableMap<byte[], Optional<Emitted>> changed) {
    NavigableMap<byte[], Optional<Child>> below = byPlace();
    changed.forEach((place, row) -> below.put(place, row.map(it -> Stored.ofRow(place, it))));
    List<NavigableMap<byte[], Optional<Child>>> levels = new ArrayList<>();
    NavigableMap<byte[], Optional<Child>> changes = below;
    for (int level = 1; level <= TOP; level++) {
      changes = planLevel(tx, level, changes);
      levels.add(changes);
    }
    return new Changes(levels);
  }

  /** Goes through the changed children, and through what shares a node with any. */
  private NavigableMap<byte[], Optional<Child>> planLevel(
      ReadTransaction tx, int level, NavigableMap<byte[], Optional<Child>> below) {
    NavigableMap<byte[], Optional<Child>> changes = byPlace();
    Optional<byte[]> place = below.isEmpty() ? Optional.empty() : Optional.of(below.firstKey());
    while (place.isPresent()) {
      byte[] begin = before(tx, level, place.get());
      Optional<byte[]> end = behind(tx, level, place.get());
      // A node that begins at a changed child may end: then its children belong to this one.
      while (end.isPresent() && below.containsKey(end.get())) {
        end = behind(tx, level, end.get());
      }
      oldNodes(tx, level, begin, end).forEach(old -> changes.put(old, Optional.empty()));
      for (Node node : divide(level, begin, children(tx, level - 1, begin, end, below))) {
        changes.put(node.place, Optional.of(node));
      }
      place = end.map(below::ceilingKey);
    }
    return changes;
  }

  private byte[] before(ReadTransaction tx, int level, byte[] place) {
    Range range = rows.range(view, level, FIRST, Optional.of(place));
    return Awaiting.await(tx.getRange(range.begin, range.end, 1, true).asList()).stream()
        .findFirst()
        .map(row -> rows.placeOf(view, level, row))
        .orElse(FIRST);
  }

  private Optional<byte[]> behind(ReadTransaction tx, int level, byte[] place) {
    byte[] next = Arrays.copyOf(place, place.length + 1);
    Range range = rows.range(view, level, next, Optional.empty());
    return Awaiting.await(tx.getRange(range.begin, range.end, 1).asList()).stream()
        .findFirst()
        .map(row -> rows.placeOf(view, level, row));
  }

  private List<byte[]> oldNodes(ReadTransaction tx, int level, byte[] begin, Optional<byte[]> end) {
    return Awaiting.await(tx.getRange(rows.range(view, level, begin, end)).asList()).stream()
        .map(row -> rows.placeOf(view, level, row))
        .toList();
  }

  private List<Child> children(
      ReadTransaction tx,
      int level,
      byte[] begin,
      Optional<byte[]> end,
      NavigableMap<byte[], Optional<Child>> changed) {
    NavigableMap<byte[], Optional<Child>> all = byPlace();
    for (KeyValue row : Awaiting.await(tx.getRange(rows.range(view, level, begin, end)).asList())) {
      loadedBytes += row.getKey().length + row.getValue().length;
      Stored child = child(level, row);
      all.put(child.place(), Optional.of(child));
    }
    if (loadedBytes > MAX_LOADED_BYTES) {
      throw new TooMuch();
    }
    all.putAll(
        end.map(it -> changed.subMap(begin, true, it, false))
            .orElseGet(() -> changed.tailMap(begin, true)));
    return all.values().stream().flatMap(Optional::stream).toList();
  }

  private Stored child(int level, KeyValue row) {
    byte[] place = rows.placeOf(view, level, row);
    return level == 0
        ? Stored.ofRow(place, ViewRows.emitted(row.getValue()))
        : new Stored(place, Optional.empty(), ViewRows.summary(row.getValue()));
  }

  /** Makes nodes of children in their order; the first begins at {@code begin}. */
  private List<Node> divide(int level, byte[] begin, List<Child> children) {
    List<Node> nodes = new ArrayList<>();
    for (Child child : children) {
      byte[] place = child.place();
      if (nodes.isEmpty() || levelOf(place) >= level) {
        boolean isFirst = nodes.isEmpty() && levelOf(place) < level;
        nodes.add(new Node(isFirst ? begin : place));
      }
      nodes.get(nodes.size() - 1).children.add(child);
    }
    return nodes;
  }

  /** Computes what the changed nodes have, level by level. May wait for scripts. */
  void compute(Changes changes) {
    changes
        .levels()
        .forEach(
            level ->
                computeNodes(
                    level.values().stream()
                        .flatMap(Optional::stream)
                        .map(Node.class::cast)
                        .toList()));
  }

  private void computeNodes(List<Node> nodes) {
    List<List<Child>> children = nodes.stream().map(it -> it.children).toList();
    List<byte[]> reductions = reductions(children);
    for (int i = 0; i < nodes.size(); i++) {
      long count = children.get(i).stream().mapToLong(it -> it.summary().rows()).sum();
      long bytes = children.get(i).stream().mapToLong(it -> it.summary().bytes()).sum();
      nodes.get(i).summary = new Summary(count, bytes, Reducer.bounded(reductions.get(i)));
    }
  }

  private List<byte[]> reductions(List<List<Child>> children) {
    return children.stream().flatMap(List::stream).anyMatch(ViewTree::isRow)
        ? reducer.reduce(children.stream().map(this::reduced).toList())
        : Reducer.combined(
            reducer,
            children.stream()
                .map(all -> all.stream().map(it -> it.summary().reduction()).toList())
                .toList());
  }

  private static boolean isRow(Child child) {
    return child instanceof Stored stored && stored.emitted.isPresent();
  }

  private List<ReducedRow> reduced(List<Child> children) {
    return children.stream().map(Stored.class::cast).map(this::reduced).toList();
  }

  private ReducedRow reduced(Stored row) {
    return new ReducedRow(row.emitted.orElseThrow(), rows.parts(row.place).docId());
  }

  void write(Transaction tx, Changes changes) {
    for (int i = 0; i < changes.levels().size(); i++) {
      int level = i + 1;
      changes
          .levels()
          .get(i)
          .forEach(
              (place, node) ->
                  rows.put(tx, view, level, place, node.map(it -> ViewRows.encode(it.summary()))));
    }
  }

  /**
   * Some nodes of one level, made anew of the level below.
   *
   * @param next where the next ones begin; empty: these were the last
   */
  record Rebuilt(Changes changes, Optional<byte[]> next) {}

  /**
   * Loads what the next nodes of a level are made of.
   *
   * @param from where the first of them begins
   * @param most children to load, unless one node has more
   */
  Rebuilt rebuild(ReadTransaction tx, int level, byte[] from, int most) {
    List<Child> children = new ArrayList<>();
    Range range = rows.range(view, level - 1, from, Optional.empty());
    byte[] begin = range.begin;
    List<KeyValue> read;
    List<Node> nodes;
    do {
      read = Awaiting.await(tx.getRange(begin, range.end, most).asList());
      for (KeyValue row : read) {
        children.add(child(level - 1, row));
        begin = Arrays.copyOf(row.getKey(), row.getKey().length + 1);
      }
      nodes = divide(level, from, children);
    } while (read.size() == most && nodes.size() < 2);
    boolean isLast = read.size() < most;
    Optional<byte[]> next =
        isLast ? Optional.empty() : Optional.of(nodes.get(nodes.size() - 1).place);
    NavigableMap<byte[], Optional<Child>> made = byPlace();
    for (Node node : isLast ? nodes : nodes.subList(0, nodes.size() - 1)) {
      made.put(node.place, Optional.of(node));
    }
    List<NavigableMap<byte[], Optional<Child>>> levels = new ArrayList<>();
    for (int each = 1; each <= TOP; each++) {
      levels.add(each == level ? made : byPlace());
    }
    return new Rebuilt(new Changes(levels), next);
  }
}
