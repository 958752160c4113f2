package lectus.mango.selector;

import java.util.List;
import lectus.json.LeafType;
import lectus.json.LeafView;

/** A part of a compiled selector: a value satisfies it or not. */
sealed interface Condition {
  /**
   * @param budget is charged for the work
   */
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
}
