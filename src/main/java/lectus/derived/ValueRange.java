package lectus.derived;

import java.util.Optional;
import lectus.json.JsonValue;

/**
 * The values of a field between two bounds, in {@link Collation}'s order.
 *
 * @param low empty: from the first
 * @param high empty: to the last
 */
public record ValueRange(Optional<Bound> low, Optional<Bound> high) {
  public static final ValueRange ALL = new ValueRange(Optional.empty(), Optional.empty());

  public record Bound(JsonValue value, boolean inclusive) {}

  static ValueRange only(JsonValue value) {
    Optional<Bound> bound = Optional.of(new Bound(value, true));
    return new ValueRange(bound, bound);
  }

  public boolean isOne() {
    return low.isPresent() && high.isPresent() && low.equals(high) && low.get().inclusive();
  }

  /** Returns the values of this range that satisfy a condition as well; empty if there are none. */
  Optional<ValueRange> narrowed(String operator, JsonValue argument, Collation order) {
    return switch (operator) {
      case "$lt" -> below(new Bound(argument, false), order);
      case "$lte" -> below(new Bound(argument, true), order);
      case "$gt" -> above(new Bound(argument, false), order);
      case "$gte" -> above(new Bound(argument, true), order);
      case "$eq" -> {
        Bound bound = new Bound(argument, true);
        yield below(bound, order).flatMap(it -> it.above(bound, order)).map(it -> only(argument));
      }
      default -> Optional.of(this);
    };
  }

  private Optional<ValueRange> below(Bound bound, Collation order) {
    boolean isTighter = high.isEmpty() || isInside(bound, high.get(), order, -1);
    return checked(new ValueRange(low, isTighter ? Optional.of(bound) : high), order);
  }

  private Optional<ValueRange> above(Bound bound, Collation order) {
    boolean isTighter = low.isEmpty() || isInside(bound, low.get(), order, 1);
    return checked(new ValueRange(isTighter ? Optional.of(bound) : low, high), order);
  }

  private static boolean isInside(Bound bound, Bound known, Collation order, int inwards) {
    int compared = compare(bound, known, order);
    return compared == 0 ? known.inclusive() && !bound.inclusive() : compared == inwards;
  }

  private static Optional<ValueRange> checked(ValueRange range, Collation order) {
    if (range.low.isEmpty() || range.high.isEmpty()) {
      return Optional.of(range);
    }
    Bound low = range.low.get();
    Bound high = range.high.get();
    int compared = compare(low, high, order);
    if (compared > 0 || (compared == 0 && !(low.inclusive() && high.inclusive()))) {
      return Optional.empty();
    }
    return Optional.of(compared == 0 ? only(low.value()) : range);
  }

  private static int compare(Bound a, Bound b, Collation order) {
    return Integer.signum(order.compare(Arguments.view(a.value()), Arguments.view(b.value())));
  }
}
