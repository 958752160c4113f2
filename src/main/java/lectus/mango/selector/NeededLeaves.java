package lectus.mango.selector;

import java.util.List;
import lectus.json.FieldPath;

/** The parts of a document that several selectors and fields need together. */
public final class NeededLeaves {
  private NeededLeaves() {}

  /**
   * Returns them like {@link Selector#reads}.
   *
   * @param fields whose values are needed as a whole
   */
  public static List<LeafRead> of(List<Selector> selectors, List<FieldPath> fields) {
    return SelectorNeeds.union(selectors, fields);
  }
}
