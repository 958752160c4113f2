package lectus.view;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import com.apple.foundationdb.async.AsyncIterator;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
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
record ViewTree(ViewRows rows, int view, long salt, Reducer reducer) {
  /** There are some 10⁹ rows for each node of the highest level. */
  static final int TOP = 5;

  /**
   * While an index is built, rows that begin nodes of this level are marked: one in 4 096. Ranges
   * of rows that are worked on by themselves begin there.
   */
  static final int MARKED = 2;

  /** The place of the first node of each level. */
  static final byte[] FIRST = {};

  /** Target size of what is loaded together, in bytes, with what objects take. */
  private static final long PART_BYTES = 2L << 20;

  /** How long a part is loaded: well within what a store keeps a version. */
  private static final long PART_NANOS = 1_000_000_000;

  /** What a child takes beside its bytes. */
  private static final int CHILD_BYTES = 200;

  /**
   * Bytes of rows, or of reductions, that are reduced at once. A node of more is reduced in parts,
   * which its children alone decide, and these again.
   */
  private static final int CHUNK_BYTES = 1 << 20;

  private static final int BITS_A_LEVEL = 6;
  private static final long MULTIPLIER = 0x9E3779B97F4A7C15L;
  private static final long FIRST_MIX = 0xBF58476D1CE4E5B9L;
  private static final long SECOND_MIX = 0x94D049BB133111EBL;
  private static final int FIRST_SHIFT = 30;
  private static final int SECOND_SHIFT = 27;
  private static final int LAST_SHIFT = 31;
  private static final int BYTE_MASK = 0xff;

  /** What is loaded to make nodes of a level, in order. */
  private sealed interface Item permits Old, Begin, Child {}

  /** A node that is there, and stays only if it is made again. */
  private record Old(byte[] place) implements Item {}

  /** From here on children follow each other, and the first node begins here. */
  private record Begin(byte[] place) implements Item {}

  /**
   * A row, or a node that is stored or was made.
   *
   * @param emitted of a row
   */
  record Child(byte[] place, Summary summary, Optional<Emitted> emitted) implements Item {
    static Child ofRow(byte[] place, Emitted emitted) {
      return new Child(place, summaryOf(place, emitted), Optional.of(emitted));
    }

    static Child ofNode(byte[] place, Summary summary) {
      return new Child(place, summary, Optional.empty());
    }

    long bytes() {
      long own = emitted.map(it -> (long) it.key().length + it.value().length).orElse(0L);
      return own + place.length + summary.reduction().length;
    }
  }

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

  /** Returns what a node of these children has, which are all that it has. */
  Summary summary(int level, List<Child> children) {
    Node node = new Node(FIRST);
    children.forEach(node::add);
    Chunk.reduce(reducer, level == 1, node.chunks);
    return node.summary(Reducer.combined(reducer, List.of(node.results())).get(0));
  }

  /** Returns a row, or a node of a level, as a child. */
  Child child(int level, KeyValue row) {
    byte[] place = rows.placeOf(view, level, row);
    return level == 0
        ? Child.ofRow(place, ViewRows.emitted(row.getValue()))
        : Child.ofNode(place, ViewRows.summary(row.getValue()));
  }

  /** Returns rows as children of nodes; empty: removed. */
  static NavigableMap<byte[], Optional<Child>> children(
      NavigableMap<byte[], Optional<Emitted>> changed) {
    NavigableMap<byte[], Optional<Child>> children = byPlace();
    changed.forEach((place, row) -> children.put(place, row.map(it -> Child.ofRow(place, it))));
    return children;
  }

  /**
   * Begins to make the nodes that change.
   *
   * @param below changed children of the level below; empty: removed
   */
  Making changing(int level, NavigableMap<byte[], Optional<Child>> below) {
    Optional<byte[]> first = below.isEmpty() ? Optional.empty() : Optional.of(below.firstKey());
    return new Making(level, below, new At(Optional.empty(), first));
  }

  /**
   * Begins to make all nodes of a level anew that begin in a range.
   *
   * @param to empty: up to the end of the view
   * @param below children that are not stored yet
   */
  Making rebuilding(
      int level, byte[] from, Optional<byte[]> to, NavigableMap<byte[], Optional<Child>> below) {
    Open all = new Open(from, from, to);
    return new Making(level, below, new At(Optional.of(all), Optional.empty()));
  }

  /**
   * A range of children of which nodes are made.
   *
   * @param from where reading goes on
   */
  private record Open(byte[] begin, byte[] from, Optional<byte[]> end) {
    boolean isFresh() {
      return begin == from;
    }
  }

  /**
   * How far loading is.
   *
   * @param place of the next changed child behind the open range
   */
  private record At(Optional<Open> open, Optional<byte[]> place) {
    boolean isEnd() {
      return open.isEmpty() && place.isEmpty();
    }
  }

  /** What one transaction loaded. */
  record Part(List<Item> items, At next) {}

  /**
   * Nodes of one level in the making: what they are made of is loaded in parts, each in a read
   * transaction of its own, and reduced between these.
   */
  final class Making {
    private final int level;
    private final NavigableMap<byte[], Optional<Child>> below;
    private final NavigableMap<byte[], Optional<Child>> changes = byPlace();
    private final List<Node> open = new ArrayList<>();
    private At at;
    private boolean begins;
    private long madeBytes;
    private int children;

    private Making(int level, NavigableMap<byte[], Optional<Child>> below, At at) {
      this.level = level;
      this.below = below;
      this.at = at;
    }

    boolean isEnd() {
      return at.isEnd();
    }

    /** Returns the nodes that are made, by place; empty: there is none any more. */
    NavigableMap<byte[], Optional<Child>> changes() {
      return changes;
    }

    long madeBytes() {
      return madeBytes;
    }

    int children() {
      return children;
    }

    /** Returns where the node begins whose children are not all loaded. */
    byte[] unfinished() {
      return open.get(open.size() - 1).place;
    }

    /** Loads the next part, and changes nothing. A slow store gives some of it. */
    Part load(ReadTransaction tx) {
      List<Item> items = new ArrayList<>();
      At next = at;
      long room = PART_BYTES;
      long end = System.nanoTime() + PART_NANOS;
      while (room > 0 && !next.isEnd() && (items.isEmpty() || System.nanoTime() - end < 0)) {
        Open range = next.open.isPresent() ? next.open.get() : open(tx, next.place.get(), items);
        if (range.isFresh()) {
          items.add(new Begin(range.begin));
        }
        int before = items.size();
        Optional<byte[]> rest = read(tx, range, room, items);
        room -= items.subList(before, items.size()).stream().mapToLong(this::size).sum();
        next =
            rest.isPresent()
                ? new At(Optional.of(new Open(range.begin, rest.get(), range.end)), next.place)
                : new At(Optional.empty(), range.end.map(below::ceilingKey));
      }
      return new Part(items, next);
    }

    private long size(Item item) {
      return item instanceof Child child ? CHILD_BYTES + child.bytes() : CHILD_BYTES;
    }

    /** Returns the range of a changed child, and of all that share a node with any in it. */
    private Open open(ReadTransaction tx, byte[] place, List<Item> items) {
      CompletableFuture<Optional<byte[]>> before = before(tx, level, place);
      Optional<byte[]> end = Awaiting.await(behind(tx, level, place));
      // A node that begins at a changed child may end: then its children belong to this one.
      while (end.isPresent() && below.containsKey(end.get())) {
        end = Awaiting.await(behind(tx, level, end.get()));
      }
      byte[] begin = Awaiting.await(before).orElse(FIRST);
      for (KeyValue row : tx.getRange(rows.range(view, level, begin, end))) {
        items.add(new Old(rows.placeOf(view, level, row)));
      }
      return new Open(begin, begin, end);
    }

    /** Reads stored children, and changed ones in their places. Returns where it stopped. */
    private Optional<byte[]> read(ReadTransaction tx, Open range, long room, List<Item> items) {
      Iterator<Map.Entry<byte[], Optional<Child>>> changed =
          range
              .end
              .map(it -> below.subMap(range.from, true, it, false))
              .orElseGet(() -> below.tailMap(range.from, true))
              .entrySet()
              .iterator();
      Optional<Map.Entry<byte[], Optional<Child>>> next = next(changed);
      AsyncIterator<KeyValue> stored =
          tx.getRange(rows.range(view, level - 1, range.from, range.end)).iterator();
      try {
        long left = room;
        while (stored.hasNext()) {
          Child child = child(level - 1, stored.next());
          while (next.isPresent() && Arrays.compareUnsigned(next.get().getKey(), child.place) < 0) {
            next.get().getValue().ifPresent(items::add);
            next = next(changed);
          }
          if (left <= 0) {
            return Optional.of(child.place);
          }
          if (next.isPresent() && Arrays.compareUnsigned(next.get().getKey(), child.place) == 0) {
            next.get().getValue().ifPresent(items::add);
            next = next(changed);
          } else {
            items.add(child);
          }
          left -= size(child);
        }
      } finally {
        stored.cancel();
      }
      for (; next.isPresent(); next = next(changed)) {
        next.get().getValue().ifPresent(items::add);
      }
      return Optional.empty();
    }

    /** Goes on with what was loaded. May wait for scripts. */
    void take(Part part) {
      at = part.next;
      for (Item item : part.items) {
        if (item instanceof Old old) {
          changes.put(old.place, Optional.empty());
        } else if (item instanceof Begin begin) {
          begins = true;
          open.add(new Node(begin.place));
        } else {
          add((Child) item);
        }
      }
      reduce();
    }

    private void add(Child child) {
      children++;
      boolean isBoundary = levelOf(child.place) >= level;
      if (begins && isBoundary) {
        // Nothing lies before it.
        open.set(open.size() - 1, new Node(child.place));
      } else if (isBoundary) {
        open.add(new Node(child.place));
      }
      begins = false;
      open.get(open.size() - 1).add(child);
    }

    private void reduce() {
      boolean isWhole = at.open.isEmpty();
      List<Node> whole = List.copyOf(open.subList(0, open.size() - (isWhole ? 0 : 1)));
      List<Chunk> full = new ArrayList<>();
      for (Node node : open) {
        boolean isDone = isWhole || node != open.get(open.size() - 1);
        node.chunks.stream()
            .filter(it -> it.result == null && (isDone || it.isFull()))
            .forEach(full::add);
      }
      Chunk.reduce(reducer, level == 1, full);
      List<Node> kept = whole.stream().filter(it -> !it.chunks.isEmpty()).toList();
      List<byte[]> reductions =
          Reducer.combined(reducer, kept.stream().map(Node::results).toList());
      for (int i = 0; i < kept.size(); i++) {
        Node node = kept.get(i);
        Summary summary = node.summary(reductions.get(i));
        madeBytes += node.place.length + summary.reduction().length;
        changes.put(node.place, Optional.of(Child.ofNode(node.place, summary)));
      }
      open.subList(0, whole.size()).clear();
    }

    void write(Transaction tx) {
      changes.forEach(
          (place, node) ->
              rows.put(tx, view, level, place, node.map(it -> ViewRows.encode(it.summary()))));
    }
  }

  private static <T> Optional<T> next(Iterator<T> iterator) {
    return iterator.hasNext() ? Optional.of(iterator.next()) : Optional.empty();
  }

  /** A node whose children are being loaded. */
  private final class Node {
    private final byte[] place;
    private final List<Chunk> chunks = new ArrayList<>();
    private long count;
    private long bytes;

    Node(byte[] place) {
      this.place = place;
    }

    void add(Child child) {
      count += child.summary.rows();
      bytes += child.summary.bytes();
      if (chunks.isEmpty() || chunks.get(chunks.size() - 1).isFull()) {
        chunks.add(new Chunk());
      }
      Chunk chunk = chunks.get(chunks.size() - 1);
      if (reducer.readsRows()) {
        chunk.add(child, child.emitted.map(it -> new ReducedRow(it, child.place)));
      }
    }

    Summary summary(byte[] reduction) {
      return new Summary(count, bytes, Reducer.bounded(reduction));
    }

    List<byte[]> results() {
      return chunks.stream().map(it -> it.result).toList();
    }
  }

  /** Children of a node that are reduced together. */
  private static final class Chunk {
    private List<ReducedRow> rows = new ArrayList<>();
    private List<byte[]> reductions = new ArrayList<>();
    private long bytes;
    private byte[] result;

    void add(Child child, Optional<ReducedRow> row) {
      row.ifPresentOrElse(rows::add, () -> reductions.add(child.summary.reduction()));
      bytes += child.bytes();
    }

    boolean isFull() {
      return bytes >= CHUNK_BYTES;
    }

    static void reduce(Reducer reducer, boolean areRows, List<Chunk> all) {
      List<byte[]> results =
          !reducer.readsRows()
              ? all.stream().map(it -> Reducer.NOTHING).toList()
              : areRows
                  ? reducer.reduce(all.stream().map(it -> it.rows).toList())
                  : Reducer.combined(reducer, all.stream().map(it -> it.reductions).toList());
      for (int i = 0; i < all.size(); i++) {
        all.get(i).result = results.get(i);
        all.get(i).rows = List.of();
        all.get(i).reductions = List.of();
      }
    }
  }

  private CompletableFuture<Optional<byte[]>> before(ReadTransaction tx, int level, byte[] place) {
    return one(tx, level, rows.range(view, level, FIRST, Optional.of(place)), true);
  }

  private CompletableFuture<Optional<byte[]>> behind(ReadTransaction tx, int level, byte[] place) {
    byte[] next = Arrays.copyOf(place, place.length + 1);
    return one(tx, level, rows.range(view, level, next, Optional.empty()), false);
  }

  private CompletableFuture<Optional<byte[]>> one(
      ReadTransaction tx, int level, Range range, boolean isLast) {
    return tx.getRange(range.begin, range.end, 1, isLast)
        .asList()
        .thenApply(some -> some.stream().findFirst().map(row -> rows.placeOf(view, level, row)));
  }
}
