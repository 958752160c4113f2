package lectus.index;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import lectus.error.LectusException;
import lectus.json.LeafView;
import lectus.selector.Selector;

/** Finds out whether an index has a document, and with which values. */
public final class IndexedValues {
  private final List<List<LeafView.Step>> fields;
  private final Optional<Selector> filter;

  IndexedValues(IndexDefinition definition) {
    this.fields =
        definition.paths().stream()
            .map(path -> path.names().stream().map(LeafView.Step::of).toList())
            .toList();
    this.filter = definition.selector();
  }

  Optional<Selector> filter() {
    return filter;
  }

  /** Whether the index may be unable to take a document, because its filter takes too much work. */
  public boolean mayRefuse() {
    return filter.isPresent();
  }

  /**
   * Returns the values of the index's fields; empty if the document is not in the index, because it
   * lacks a field or the filter does not match.
   *
   * @param document with the leaves of {@link DatabaseIndexes#reads}
   * @throws LectusException {@code bad_request}: the filter takes too much work
   */
  public Optional<List<LeafView>> of(LeafView document, String docId) {
    List<LeafView> values = new ArrayList<>(fields.size());
    for (List<LeafView.Step> field : fields) {
      LeafView value = document;
      for (int i = 0; i < field.size() && !value.isMissing(); i++) {
        value = value.child(field.get(i));
      }
      if (value.isMissing()) {
        return Optional.empty();
      }
      values.add(value);
    }
    boolean isIn = filter.map(it -> it.matches(document, docId)).orElse(true);
    return isIn ? Optional.of(values) : Optional.empty();
  }
}
