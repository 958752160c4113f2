package lectus.derived;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import lectus.derived.LeafRead.Extent;
import lectus.json.FieldPath;
import lectus.json.TupleReader;

/** Collects which parts of a document the conditions of a selector need. */
public final class SelectorNeeds {
  /** Beyond this number, reading all of a document costs less than reading its parts. */
  static final int MAX_READS = 64;

  /** The same for the size of their paths together; numeric names stand for several paths. */
  private static final int MAX_PATH_BYTES = 1_000_000;

  private final Map<byte[], Extent> extents = new TreeMap<>(Arrays::compareUnsigned);

  private long pathBytes;

  private SelectorNeeds() {}

  static List<LeafRead> of(Condition condition) {
    SelectorNeeds reads = new SelectorNeeds();
    reads.addAll(condition);
    List<LeafRead> whole = List.of(new LeafRead(new byte[0], Extent.ALL));
    if (reads.areTooLong()) {
      return whole;
    }
    List<LeafRead> parts = reads.withoutCovered();
    return parts.size() <= MAX_READS ? parts : whole;
  }

  /** Returns what several selectors need, and the values of some fields. */
  public static List<LeafRead> union(Iterable<Selector> selectors, List<FieldPath> fields) {
    SelectorNeeds reads = new SelectorNeeds();
    fields.forEach(field -> reads.add(field.names(), Extent.ALL));
    for (Selector selector : selectors) {
      selector.reads().forEach(it -> reads.extents.merge(it.path(), it.extent(), Extent::with));
    }
    List<LeafRead> parts = reads.withoutCovered();
    return parts.size() <= MAX_READS ? parts : List.of(new LeafRead(new byte[0], Extent.ALL));
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

  /** The value above a missing field decides whether the field counts as missing. */
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
    return pathBytes > MAX_PATH_BYTES;
  }

  /** Drops everything at or below a path that is read as a whole. */
  private List<LeafRead> withoutCovered() {
    List<LeafRead> reads = new ArrayList<>();
    byte[] whole = null;
    for (Map.Entry<byte[], Extent> each : extents.entrySet()) {
      if (whole != null && TupleReader.isAtOrBelow(whole, each.getKey())) {
        continue;
      }
      reads.add(new LeafRead(each.getKey(), each.getValue()));
      whole = each.getValue() == Extent.ALL ? each.getKey() : whole;
    }
    return List.copyOf(reads);
  }
}
