package lectus.derived;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import lectus.error.LectusException;
import lectus.json.LeafView;
import lectus.mango.selector.EditWork;
import lectus.mango.selector.Selector;

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

  /**
   * Returns the values of the index's fields; empty if the document lacks a field, and so is not in
   * the index.
   *
   * @param document with the leaves of {@link DatabaseIndexes#reads}
   */
  public Optional<List<LeafView>> of(LeafView document) {
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
    return Optional.of(values);
  }

  /**
   * Whether the filter lets a document into the index.
   *
   * @throws LectusException {@code bad_request}: that takes too much work
   */
  public boolean takes(LeafView document, EditWork.Share work) {
    return filter.isEmpty() || work.matches(filter.get(), document);
  }
}
