package lectus.view;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.store.Awaiting;
import lectus.view.ViewRows.Summary;

/**
 * Reads parts of a view's tree within one transaction, level by level from the top: a node that
 * lies within what is asked for is taken, and any other is opened. All reads of a level go out
 * together.
 */
record TreeReader(ReadTransaction tx, ViewRows rows, int view, ViewTree tree) {
  /** Nodes that a group has at its two ends. */
  private static final int LEAST_OPEN = 4;

  /** Nodes that are read together on the way to a row. */
  private static final int SOUGHT = 256;

  /**
   * Places from one on up to another.
   *
   * @param to empty: up to the end of the view
   */
  record Span(byte[] from, Optional<byte[]> to) {
    static final Span ALL = new Span(ViewTree.FIRST, Optional.empty());

    boolean isEmpty() {
      return to.filter(it -> Arrays.compareUnsigned(from, it) >= 0).isPresent();
    }
  }

  /** A part of what was asked for, in the order of places. */
  sealed interface Piece {
    byte[] place();

    /** A node that lies wholly in it. */
    record Whole(byte[] place, Summary summary) implements Piece {}

    record Row(byte[] place, byte[] value) implements Piece {}
  }

  /** Tells which rows belong together: those whose groups have equal bytes. */
  interface Grouping {
    /** All of a span is one group. */
    Grouping NONE = place -> ViewTree.FIRST;

    byte[] of(byte[] place);
  }

  /**
   * What is still to be looked at.
   *
   * @param begins whether a node of any level begins at its first place
   * @param ends whether a node of any level begins at its end
   * @param bytes of its rows, if they are known
   */
  private record Open(Span span, boolean begins, boolean ends, long bytes) {}

  /**
   * Pieces of a span.
   *
   * @param cut where they end early, because there would be too many; in the other direction, where
   *     they begin late
   */
  record Pieces(List<Piece> all, Optional<byte[]> cut) {}

  /**
   * Returns the pieces that make up a span.
   *
   * @param mostOpen nodes of a level that are opened; at least 8, so that a group is whole
   * @param fromEnd what to keep if there are more
   */
  Pieces pieces(Span span, Grouping grouping, int mostOpen, long mostBytes, boolean fromEnd) {
    if (span.isEmpty()) {
      return new Pieces(List.of(), Optional.empty());
    }
    List<Object> parts = new ArrayList<>();
    parts.add(new Open(span, span.from().length == 0, span.to().isEmpty(), 0));
    Optional<byte[]> cut = Optional.empty();
    for (int level = ViewTree.TOP; level >= 0; level--) {
      Optional<byte[]> closer =
          cut(parts, mostOpen, level == 0 ? mostBytes : Long.MAX_VALUE, fromEnd);
      cut = closer.isPresent() ? closer : cut;
      parts = opened(level, parts, grouping);
    }
    return new Pieces(parts.stream().map(Piece.class::cast).toList(), cut);
  }

  /** Leaves out what comes behind the last of the nodes that may be opened. */
  private static Optional<byte[]> cut(
      List<Object> parts, int mostOpen, long mostBytes, boolean fromEnd) {
    int open = 0;
    long bytes = 0;
    for (int i = 0; i < parts.size(); i++) {
      int at = fromEnd ? parts.size() - 1 - i : i;
      if (parts.get(at) instanceof Open each) {
        open++;
        bytes += each.bytes;
        if (open > mostOpen || (open > LEAST_OPEN && bytes > mostBytes)) {
          List<Object> out = fromEnd ? parts.subList(0, at + 1) : parts.subList(at, parts.size());
          Optional<byte[]> place = fromEnd ? each.span.to() : Optional.of(each.span.from());
          out.clear();
          return place;
        }
      }
    }
    return Optional.empty();
  }

  private List<Object> opened(int level, List<Object> parts, Grouping grouping) {
    List<Optional<CompletableFuture<List<KeyValue>>>> reading = new ArrayList<>();
    for (Object part : parts) {
      reading.add(
          part instanceof Open open
              ? Optional.of(
                  tx.getRange(rows.range(view, level, open.span.from(), open.span.to())).asList())
              : Optional.empty());
    }
    List<Object> next = new ArrayList<>();
    for (int i = 0; i < parts.size(); i++) {
      if (parts.get(i) instanceof Open open) {
        List<KeyValue> read = Awaiting.await(reading.get(i).orElseThrow());
        if (level == 0) {
          read.forEach(row -> next.add(new Piece.Row(rows.placeOf(view, 0, row), row.getValue())));
        } else {
          divide(level, open, read, grouping, next);
        }
      } else {
        next.add(parts.get(i));
      }
    }
    return next;
  }

  private void divide(
      int level, Open open, List<KeyValue> nodes, Grouping grouping, List<Object> to) {
    Span span = open.span;
    if (nodes.isEmpty()) {
      to.add(open);
      return;
    }
    List<Optional<byte[]>> places = new ArrayList<>(nodes.size() + 1);
    nodes.forEach(node -> places.add(Optional.of(rows.placeOf(view, level, node))));
    places.add(span.to());
    byte[] first = places.get(0).orElseThrow();
    if (Arrays.compareUnsigned(span.from(), first) < 0 && !open.begins) {
      to.add(new Open(new Span(span.from(), Optional.of(first)), false, true, 0));
    }
    Optional<byte[]> last = open.ends ? group(grouping, span.to()) : Optional.empty();
    new Division(open, nodes, places, grouping, to)
        .add(0, nodes.size(), group(grouping, places.get(0)), last);
  }

  /**
   * The nodes of a level in an open span, as parts. Groups are in the order of places, so nodes
   * between two of one group are of it, too.
   *
   * @param places where they begin, and where the last one ends
   */
  private record Division(
      Open open,
      List<KeyValue> nodes,
      List<Optional<byte[]>> places,
      Grouping grouping,
      List<Object> to) {
    /**
     * @param first the group that is at the first of them, and behind them; empty: it is not known
     */
    void add(int from, int end, Optional<byte[]> first, Optional<byte[]> last) {
      boolean isWhole =
          first.isPresent() && last.isPresent() && Arrays.equals(first.get(), last.get());
      if (!isWhole && end - from > 1) {
        int middle = (from + end) >>> 1;
        Optional<byte[]> group = group(grouping, places.get(middle));
        add(from, middle, first, group);
        add(middle, end, group, last);
        return;
      }
      for (int i = from; i < end; i++) {
        byte[] place = places.get(i).orElseThrow();
        Summary summary = ViewRows.summary(nodes.get(i).getValue());
        boolean ends = i + 1 < nodes.size() || open.ends;
        to.add(
            isWhole
                ? new Piece.Whole(place, summary)
                : new Open(new Span(place, places.get(i + 1)), true, ends, summary.bytes()));
      }
    }
  }

  /** Returns empty if it is not known: before the first row, and behind the last one. */
  private static Optional<byte[]> group(Grouping grouping, Optional<byte[]> place) {
    return grouping == Grouping.NONE
        ? Optional.of(ViewTree.FIRST)
        : place.filter(it -> it.length > 0).map(grouping::of);
  }

  long count(Span span) {
    long count = 0;
    for (Piece piece :
        pieces(span, Grouping.NONE, Integer.MAX_VALUE, Long.MAX_VALUE, false).all()) {
      count += piece instanceof Piece.Whole whole ? whole.summary().rows() : 1;
    }
    return count;
  }

  /** Returns the place of the row before which a span has so many; empty if it has no more. */
  Optional<byte[]> seek(Span span, long skip) {
    long left = skip;
    int level = 0;
    int highest = ViewTree.TOP;
    byte[] at = span.from();
    while (true) {
      Range range = rows.range(view, level, at, span.to());
      Optional<byte[]> deeper = Optional.empty();
      boolean rises = false;
      byte[] last = at;
      for (KeyValue row : Awaiting.await(tx.getRange(range.begin, range.end, SOUGHT).asList())) {
        byte[] place = rows.placeOf(view, level, row);
        int own = Math.min(highest, tree.levelOf(place));
        if (own > level) {
          at = place;
          level = own;
          rises = true;
          break;
        }
        long count = level == 0 ? 1 : ViewRows.summary(row.getValue()).rows();
        if (left < count) {
          deeper = Optional.of(place);
          break;
        }
        left -= count;
        last = place;
      }
      if (rises) {
        continue;
      }
      if (deeper.isPresent() && level == 0) {
        return deeper;
      }
      if (deeper.isPresent()) {
        at = deeper.get();
        level--;
        highest = level;
      } else if (last == at) {
        return Optional.empty();
      } else {
        at = Arrays.copyOf(last, last.length + 1);
      }
    }
  }
}
