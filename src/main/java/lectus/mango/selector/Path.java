package lectus.mango.selector;

import java.util.ArrayList;
import java.util.List;
import lectus.json.FieldPath;
import lectus.json.LeafView;

/** A field: the names that lead to it from the document or from an element. */
record Path(List<String> names, List<LeafView.Step> steps) {
  static final Path ROOT = new Path(List.of(), List.of());

  Path then(String field) {
    List<String> longer = new ArrayList<>(names);
    List<LeafView.Step> further = new ArrayList<>(steps);
    for (String name : FieldPath.split(field)) {
      longer.add(name);
      further.add(LeafView.Step.of(name));
    }
    if (longer.size() > FieldPath.MAX_NAMES) {
      throw SelectorErrors.tooLarge(FieldPath.MAX_NAMES + " names in a path");
    }
    return new Path(List.copyOf(longer), List.copyOf(further));
  }

  boolean isRoot() {
    return names.isEmpty();
  }

  LeafView in(LeafView value) {
    LeafView at = value;
    for (int i = 0; i < steps.size() && !at.isMissing(); i++) {
      at = at.child(steps.get(i));
    }
    return at;
  }
}
