package lectus.selector;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import lectus.json.FieldPath;
import lectus.tuple.TuplePrefixes;

/** Collects what the conditions of a selector look at. */
final class LeafReads {
  /** Reading so many parts of a document costs more than reading all of it. */
  static final int MOST_READS = 64;

  /** The same of their paths together, of which the numbers among the names make several. */
  private static final int MOST_PATH_BYTES = 1_000_000;

  private final Map<byte[], Extent> extents = new TreeMap<>(Arrays::compareUnsigned);

  private long pathBytes;

  private LeafReads() {}

  static List<LeafRead> of(Condition condition) {
    LeafReads reads = new LeafReads();
    reads.addAll(condition);
    List<LeafRead> whole = List.of(new LeafRead(new byte[0], Extent.ALL));
    if (reads.areTooLong()) {
      return whole;
    }
    List<LeafRead> parts = reads.withoutCovered();
    return parts.size() <= MOST_READS ? parts : whole;
  }

  /** What several selectors look at. */
  static List<LeafRead> union(Iterable<Selector> selectors) {
    LeafReads reads = new LeafReads();
    for (Selector selector : selectors) {
      selector.reads().forEach(it -> reads.extents.merge(it.path(), it.extent(), Extent::with));
    }
    List<LeafRead> parts = reads.withoutCovered();
    return parts.size() <= MOST_READS ? parts : List.of(new LeafRead(new byte[0], Extent.ALL));
  }

  private void addAll(Condition condition) {
    if (condition instanceof Condition.All all) {
      all.conditions().forEach(this::addAll);
    } else if (condition instanceof Condition.Any any) {
      any.conditions().forEach(this::addAll);
    } else if (condition instanceof Condition.Not not) {
      addAll(not.condition());
    } else if (condition instanceof Condition.At at) {
      add(at.path().names(), at.operator().extent());
    } else if (condition instanceof Condition.Missing missing) {
      addAncestors(missing.path().names());
    }
  }

  /** What stands in a missing field's way tells whether it is missing. */
  private void addAncestors(List<String> names) {
    for (int length = 1; length <= names.size() && !areTooLong(); length++) {
      add(names.subList(0, length), Extent.TYPE);
    }
  }

  private void add(List<String> names, Extent extent) {
    if (areTooLong()) {
      return;
    }
    FieldPath bounded = new FieldPath(names).bounded();
    boolean isWider = names.isEmpty() || bounded.names().size() < names.size();
    Extent needed = isWider ? Extent.ALL : extent;
    pathBytes += bounded.prefixBytes();
    if (areTooLong()) {
      return;
    }
    for (byte[] path : bounded.prefixes()) {
      extents.merge(path, needed, Extent::with);
    }
  }

  private boolean areTooLong() {
    return pathBytes > MOST_PATH_BYTES;
  }

  /** Without what lies at or below a path that is read whole. */
  private List<LeafRead> withoutCovered() {
    List<LeafRead> reads = new ArrayList<>();
    byte[] whole = null;
    for (Map.Entry<byte[], Extent> each : extents.entrySet()) {
      if (whole != null && TuplePrefixes.isAtOrBelow(whole, each.getKey())) {
        continue;
      }
      reads.add(new LeafRead(each.getKey(), each.getValue()));
      whole = each.getValue() == Extent.ALL ? each.getKey() : whole;
    }
    return List.copyOf(reads);
  }
}
