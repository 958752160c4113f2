package lectus.derived;

import java.util.ArrayList;
import java.util.List;
import lectus.json.FieldPath;
import lectus.json.LeafView;
import lectus.json.LeafView.LeafType;

/** A part of a compiled selector: a value satisfies it or not. */
sealed interface Condition {
  boolean holds(LeafView value, MatchBudget budget);

  /** {@code $and}. */
  record All(List<Condition> conditions) implements Condition {
    @Override
    public boolean holds(LeafView value, MatchBudget budget) {
      for (Condition condition : conditions) {
        if (!condition.holds(value, budget)) {
          return false;
        }
      }
      return true;
    }
  }

  /** {@code $or}; as in CouchDB, it holds if it has no conditions. */
  record Any(List<Condition> conditions) implements Condition {
    @Override
    public boolean holds(LeafView value, MatchBudget budget) {
      for (Condition condition : conditions) {
        if (condition.holds(value, budget)) {
          return true;
        }
      }
      return conditions.isEmpty();
    }
  }

  /** A negation within {@code $elemMatch}, which treats a missing field as a mismatch. */
  record Not(Condition condition) implements Condition {
    @Override
    public boolean holds(LeafView value, MatchBudget budget) {
      return !condition.holds(value, budget);
    }
  }

  /** An operator on the value at a path; does not hold if there is no value. */
  record At(Path path, Operator operator) implements Condition {
    @Override
    public boolean holds(LeafView value, MatchBudget budget) {
      budget.spend(1 + path.names().size());
      LeafView at = path.in(value);
      return !at.isMissing() && operator.passes(at, budget);
    }
  }

  /**
   * {@code {"$exists": false}} at a path. Everything above the last name must be an object: if an
   * array or a scalar is in the way, the field neither exists nor is missing.
   */
  record Missing(Path path) implements Condition {
    @Override
    public boolean holds(LeafView value, MatchBudget budget) {
      budget.spend(1 + path.names().size());
      LeafView at = value;
      for (LeafView.Step step : path.steps()) {
        LeafView child = at.child(step);
        if (child.isMissing()) {
          return at.type() == LeafType.OBJECT || at.isMissing();
        }
        at = child;
      }
      return false;
    }
  }

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

    LeafView in(LeafView value) {
      LeafView at = value;
      for (int i = 0; i < steps.size() && !at.isMissing(); i++) {
        at = at.child(steps.get(i));
      }
      return at;
    }
  }
}
