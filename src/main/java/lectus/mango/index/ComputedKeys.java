package lectus.mango.index;

import java.util.HashMap;
import java.util.Map;
import lectus.json.LeafView;
import lectus.mango.selector.SortKey;

/**
 * The sort keys of one document's fields, each computed once: indexes often share fields, and a
 * long string takes ICU a while.
 */
final class ComputedKeys {
  private final Map<Cut, byte[]> known = new HashMap<>(4);

  /** A field's key up to a length. */
  private record Cut(String field, int mostBytes) {}

  byte[] of(String field, LeafView value, int mostBytes) {
    return known.computeIfAbsent(
        new Cut(field, mostBytes), cut -> SortKey.of(value, mostBytes).bytes());
  }
}
