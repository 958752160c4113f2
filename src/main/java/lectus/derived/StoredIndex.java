package lectus.derived;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import lectus.error.LectusException;
import lectus.json.LeafView;

/** An index of a database. */
public final class StoredIndex extends Derived {
  private final IndexDefinition definition;
  private final List<List<LeafView.Step>> steps;
  private final Optional<Selector> filter;

  public StoredIndex(long number, IndexDefinition definition, boolean isReadable) {
    super(number, isReadable);
    this.definition = definition;
    this.steps =
        definition.paths().stream()
            .map(path -> path.names().stream().map(LeafView.Step::of).toList())
            .toList();
    this.filter = definition.selector();
  }

  @Override
  public IndexDefinition definition() {
    return definition;
  }

  @Override
  public StoredIndex readable() {
    return new StoredIndex(number(), definition, true);
  }

  @Override
  public Optional<Selector> selector() {
    return filter;
  }

  /**
   * Returns the values of the index's fields; empty if the document lacks a field, and so is not in
   * the index.
   *
   * @param document with the leaves of {@link DerivedSet#reads}
   */
  public Optional<List<LeafView>> values(LeafView document) {
    List<LeafView> values = new ArrayList<>(steps.size());
    for (List<LeafView.Step> field : steps) {
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
