package lectus.derived;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import lectus.derived.Condition.Path;
import lectus.json.LeafView;

/**
 * Finds, among many selectors, those that may match a document. A selector that requires a field to
 * equal a scalar, possibly among other conditions, is found by that value. So selectors that
 * require another value cost nothing. Not thread-safe.
 */
public final class SelectorIndex<T> {
  /**
   * Longer strings, in bytes, are not hashed, because a collation key is larger than its string.
   */
  private static final int LONGEST_VALUE = 4_096;

  private final Map<T, Selector> selectors = new LinkedHashMap<>();
  private final Map<List<String>, ByValue<T>> byField = new HashMap<>();
  private final Map<T, Selector> others = new LinkedHashMap<>();

  /** Null after a selector was added or removed. */
  private List<LeafRead> reads;

  private record ByValue<T>(Path path, Map<Integer, List<T>> hashes) {}

  /** Whether the selector is found by a value, so that it costs nothing where it does not match. */
  public static boolean finds(Selector selector) {
    return equality(selector).isPresent();
  }

  public void add(T who, Selector selector) {
    selectors.put(who, selector);
    reads = null;
    Optional<Condition.At> equality = equality(selector);
    if (equality.isPresent()) {
      Path path = equality.get().path();
      byField
          .computeIfAbsent(path.names(), names -> new ByValue<>(path, new HashMap<>()))
          .hashes()
          .computeIfAbsent(hashOf(equality.get()), hash -> new ArrayList<>(1))
          .add(who);
    } else {
      others.put(who, selector);
    }
  }

  public void remove(T who) {
    Selector selector = selectors.remove(who);
    reads = null;
    if (selector == null || others.remove(who) != null) {
      return;
    }
    Condition.At equality = equality(selector).orElseThrow();
    ByValue<T> field = byField.get(equality.path().names());
    List<T> same = field == null ? null : field.hashes().get(hashOf(equality));
    if (same == null) {
      return; // it was not completely added
    }
    same.remove(who);
    if (same.isEmpty()) {
      field.hashes().remove(hashOf(equality));
    }
    if (field.hashes().isEmpty()) {
      byField.remove(equality.path().names());
    }
  }

  public boolean isEmpty() {
    return selectors.isEmpty();
  }

  public Set<T> all() {
    return Collections.unmodifiableSet(selectors.keySet());
  }

  public Selector selector(T who) {
    return selectors.get(who);
  }

  /**
   * Returns the parts of a document that any of the selectors needs, like {@link Selector#reads}.
   */
  public List<LeafRead> reads() {
    if (reads == null) {
      reads = SelectorNeeds.union(selectors.values(), List.of());
    }
    return reads;
  }

  /** Passes on all entries whose selectors may match, and few others. */
  public void candidates(LeafView document, Consumer<T> candidate) {
    for (ByValue<T> field : byField.values()) {
      LeafView value = field.path().in(document);
      if (isIndexed(value)) {
        field.hashes().getOrDefault(Collation.ORDER.hashOf(value), List.of()).forEach(candidate);
      } else if (!value.isMissing() && !value.type().isContainer()) {
        field.hashes().values().forEach(all -> all.forEach(candidate));
      }
    }
    others.keySet().forEach(candidate);
  }

  /** Returns one of the equalities that the selector requires. */
  private static Optional<Condition.At> equality(Selector selector) {
    return equality(selector.condition());
  }

  private static Optional<Condition.At> equality(Condition condition) {
    if (condition instanceof Condition.At at
        && at.operator() instanceof Operator.Equal equal
        && isIndexed(equal.argument())) {
      return Optional.of(at);
    }
    return condition instanceof Condition.All all
        ? all.conditions().stream()
            .map(SelectorIndex::equality)
            .flatMap(Optional::stream)
            .findFirst()
        : Optional.empty();
  }

  private static int hashOf(Condition.At equality) {
    return Collation.ORDER.hashOf(((Operator.Equal) equality.operator()).argument());
  }

  private static boolean isIndexed(LeafView value) {
    return switch (value.type()) {
      case NULL, FALSE, TRUE, NUMBER -> true;
      case STRING -> value.utf8().length <= LONGEST_VALUE;
      default -> false;
    };
  }
}
