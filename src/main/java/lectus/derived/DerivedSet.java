package lectus.derived;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import lectus.json.FieldPath;

/** The indexes or the stored feeds of a database, in the order of their numbers. */
public final class DerivedSet<D extends Derived> {
  private final List<D> all;
  private final List<LeafRead> reads;
  private final long heapBytes;

  public DerivedSet(List<D> all) {
    this.all = List.copyOf(all);
    this.reads = reads(all);
    this.heapBytes = all.stream().mapToLong(it -> it.definition().heapBytes()).sum();
  }

  public static <D extends Derived> DerivedSet<D> of(Class<D> kind, List<Derived> all) {
    return new DerivedSet<>(all.stream().filter(kind::isInstance).map(kind::cast).toList());
  }

  /** Returns the parts of documents that the rows of some are made of. */
  public static List<LeafRead> reads(List<? extends Derived> some) {
    List<Selector> selectors = new ArrayList<>();
    List<FieldPath> fields = new ArrayList<>();
    for (Derived each : some) {
      each.selector().ifPresent(selectors::add);
      fields.addAll(each.definition().paths());
    }
    return SelectorNeeds.union(selectors, fields);
  }

  public List<D> all() {
    return all;
  }

  public boolean isEmpty() {
    return all.isEmpty();
  }

  public boolean areReadable() {
    return all.stream().allMatch(Derived::isReadable);
  }

  public List<LeafRead> reads() {
    return reads;
  }

  public List<D> definedBy(String name) {
    return all.stream().filter(it -> it.definition().definedBy().equals(name)).toList();
  }

  public Optional<D> named(String name) {
    return definedBy(name).stream().findFirst();
  }

  /** Returns it as it is now; empty if it is gone. */
  public Optional<D> current(Derived one) {
    return all.stream().filter(one::equals).findFirst();
  }

  public long heapBytes() {
    return heapBytes;
  }
}
