package lectus.selector;

import java.util.List;
import lectus.json.LeafType;
import lectus.json.LeafView;

/** A part of a compiled selector: holds for a value or not. */
sealed interface Condition {
  /**
   * @param budget pays for it
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

  /** {@code $or}; without conditions it holds, as in CouchDB. */
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

  /** A negation that takes a missing field for a mismatch: within {@code $elemMatch}. */
  record Not(Condition condition) implements Condition {
    @Override
    public boolean holds(LeafView value, MatchBudget budget) {
      return !condition.holds(value, budget);
    }
  }

  /** An operator on the value at a path below; does not hold where there is none. */
  record At(Path path, Operator operator) implements Condition {
    @Override
    public boolean holds(LeafView value, MatchBudget budget) {
      budget.spend(1 + path.names().size());
      LeafView at = path.in(value);
      return !at.isMissing() && operator.passes(at, budget);
    }
  }

  /**
   * {@code {"$exists": false}} at a path: all above its last name must be objects, since where an
   * array or a scalar stands in the way the field is neither there nor missing.
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
