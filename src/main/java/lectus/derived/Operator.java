package lectus.derived;

import com.google.re2j.Pattern;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.function.IntPredicate;
import lectus.derived.LeafRead.Extent;
import lectus.json.LeafView;
import lectus.json.LeafView.LeafType;

/** A test of an existing value. */
sealed interface Operator {
  boolean passes(LeafView value, MatchBudget budget);

  /** Returns which part of the value must have been read: all of it, unless less suffices. */
  default Extent extent() {
    return Extent.ALL;
  }

  /** The negation of an operator whose negation is not in the language. */
  record Not(Operator operator) implements Operator {
    @Override
    public boolean passes(LeafView value, MatchBudget budget) {
      return !operator.passes(value, budget);
    }

    /** The leaf alone cannot distinguish a container, which passes, from a missing field. */
    @Override
    public Extent extent() {
      return operator.extent() == Extent.LEAF ? Extent.FIRST : operator.extent();
    }
  }

  /** {@code $eq}. */
  record Equal(LeafView argument, Collation order) implements Operator {
    @Override
    public boolean passes(LeafView value, MatchBudget budget) {
      budget.spend(value.type() == argument.type() ? value.size() : 1);
      return order.areEqual(value, argument);
    }

    @Override
    public Extent extent() {
      return argument.children().next() == null ? Extent.LEAF : Extent.ALL;
    }
  }

  /**
   * {@code $lt}, {@code $lte}, {@code $gt}, {@code $gte}.
   *
   * @param test whether a value passes, given the result of comparing it with the argument
   */
  record Ordered(LeafView argument, Collation order, IntPredicate test) implements Operator {
    @Override
    public boolean passes(LeafView value, MatchBudget budget) {
      budget.spend(value.type() == argument.type() ? value.size() : 1);
      return test.test(order.compare(value, argument));
    }

    /** A container is greater than any scalar. If greater values do not pass, the leaf suffices. */
    @Override
    public Extent extent() {
      if (!argument.type().isContainer()) {
        return test.test(1) ? Extent.FIRST : Extent.LEAF;
      }
      return argument.children().next() == null ? Extent.FIRST : Extent.ALL;
    }
  }

  /**
   * {@code $in}: for an array, any element.
   *
   * @param arguments in the order
   */
  record In(List<LeafView> arguments, Collation order) implements Operator {
    @Override
    public boolean passes(LeafView value, MatchBudget budget) {
      return value.type() == LeafType.ARRAY
          ? value.hasChild(element -> isArgument(element, budget))
          : isArgument(value, budget);
    }

    private boolean isArgument(LeafView value, MatchBudget budget) {
      budget.spend(value.size() * (1 + log2(arguments.size())));
      return Collections.binarySearch(arguments, value, order) >= 0;
    }
  }

  /**
   * {@code $eq} of one of several arguments; unlike {@code $in} it does not look into arrays.
   *
   * @param arguments in the order
   */
  record EqualToOne(List<LeafView> arguments, Collation order) implements Operator {
    @Override
    public boolean passes(LeafView value, MatchBudget budget) {
      budget.spend(value.size() * (1 + log2(arguments.size())));
      return Collections.binarySearch(arguments, value, order) >= 0;
    }

    @Override
    public Extent extent() {
      return arguments.stream().allMatch(it -> it.children().next() == null)
          ? Extent.LEAF
          : Extent.ALL;
    }
  }

  /** Returns the maximum number of steps of a binary search in a list of this size. */
  private static int log2(int size) {
    return Integer.SIZE - Integer.numberOfLeadingZeros(size);
  }

  /**
   * {@code $all}: an array that contains each argument exactly ({@code 1} is not {@code 1.0}), or
   * that equals the only argument.
   */
  record Contains(List<LeafView> arguments) implements Operator {
    @Override
    public boolean passes(LeafView value, MatchBudget budget) {
      if (arguments.isEmpty() || value.type() != LeafType.ARRAY) {
        return false;
      }
      return arguments.stream().allMatch(argument -> isIn(value, argument, budget))
          || (arguments.size() == 1 && Collation.ORDER.areEqual(value, arguments.get(0)));
    }

    private static boolean isIn(LeafView array, LeafView argument, MatchBudget budget) {
      budget.spend(array.size());
      return array.hasChild(element -> element.hasLeavesOf(argument));
    }
  }

  /** {@code $exists: true}. */
  record Exists() implements Operator {
    @Override
    public boolean passes(LeafView value, MatchBudget budget) {
      return true;
    }

    @Override
    public Extent extent() {
      return Extent.TYPE;
    }
  }

  /** {@code $type}; an unknown type name matches nothing. */
  record OfType(String name) implements Operator {
    @Override
    public boolean passes(LeafView value, MatchBudget budget) {
      String type =
          switch (value.type()) {
            case NULL -> "null";
            case FALSE, TRUE -> "boolean";
            case NUMBER -> "number";
            case STRING -> "string";
            case ARRAY -> "array";
            case OBJECT -> "object";
            case MISSING -> "";
          };
      return type.equals(name);
    }

    @Override
    public Extent extent() {
      return Extent.TYPE;
    }
  }

  /** {@code $size}. */
  record OfSize(BigInteger size) implements Operator {
    @Override
    public boolean passes(LeafView value, MatchBudget budget) {
      if (value.type() != LeafType.ARRAY) {
        return false;
      }
      budget.spend(value.size());
      long count = 0;
      LeafView.Children elements = value.children();
      while (elements.next() != null) {
        count++;
      }
      return size.equals(BigInteger.valueOf(count));
    }
  }

  /** {@code $mod}: the remainder has the sign of the value. */
  record Remainder(BigInteger divisor, BigInteger remainder) implements Operator {
    @Override
    public boolean passes(LeafView value, MatchBudget budget) {
      return value.type() == LeafType.NUMBER
          && value.isInteger()
          && value.integer().remainder(divisor).equals(remainder);
    }

    @Override
    public Extent extent() {
      return Extent.LEAF;
    }
  }

  /** {@code $regex}: matches anywhere in a string. */
  record Matches(Pattern pattern) implements Operator {
    @Override
    public boolean passes(LeafView value, MatchBudget budget) {
      budget.spend(value.size());
      return value.type() == LeafType.STRING && isIn(value.string(), budget);
    }

    private boolean isIn(String text, MatchBudget budget) {
      return pattern.matcher(new BudgetedText(text, pattern.programSize(), budget)).find();
    }

    @Override
    public Extent extent() {
      return Extent.LEAF;
    }
  }

  /** {@code $beginsWith}. */
  record BeginsWith(byte[] utf8) implements Operator {
    @Override
    public boolean passes(LeafView value, MatchBudget budget) {
      if (value.type() != LeafType.STRING) {
        return false;
      }
      budget.spend(value.size());
      byte[] text = value.utf8();
      return text.length >= utf8.length
          && Arrays.equals(text, 0, utf8.length, utf8, 0, utf8.length);
    }

    @Override
    public Extent extent() {
      return Extent.LEAF;
    }
  }

  /** {@code $elemMatch}. */
  record AnyElement(Condition condition) implements Operator {
    @Override
    public boolean passes(LeafView value, MatchBudget budget) {
      budget.spend(value.size());
      return value.type() == LeafType.ARRAY
          && value.hasChild(element -> condition.holds(element, budget));
    }
  }

  /** {@code $allMatch}: an empty array does not pass. */
  record EveryElement(Condition condition) implements Operator {
    @Override
    public boolean passes(LeafView value, MatchBudget budget) {
      budget.spend(value.size());
      return value.type() == LeafType.ARRAY
          && value.children().next() != null
          && !value.hasChild(element -> !condition.holds(element, budget));
    }
  }

  /** {@code $keyMapMatch}: the name of any member of an object. */
  record AnyName(Condition condition) implements Operator {
    @Override
    public boolean passes(LeafView value, MatchBudget budget) {
      budget.spend(value.size());
      return value.type() == LeafType.OBJECT
          && value.hasChild(member -> condition.holds(member.name(), budget));
    }
  }

  /**
   * A text for a regular expression. Each character is charged when it is first reached: a matcher
   * goes through a text once, and each instruction takes at most one step per character.
   */
  final class BudgetedText implements CharSequence {
    /** Number of characters charged at once. */
    private static final int STRIDE = 1_024;

    private final String text;
    private final long workPerCharacter;
    private final MatchBudget budget;
    private int paidFor;

    BudgetedText(String text, long workPerCharacter, MatchBudget budget) {
      this.text = text;
      this.workPerCharacter = workPerCharacter;
      this.budget = budget;
    }

    @Override
    public char charAt(int index) {
      if (index >= paidFor) {
        payUpTo(Math.min(text.length(), index + STRIDE));
      }
      return text.charAt(index);
    }

    private void payUpTo(int end) {
      budget.spend(workPerCharacter * (end - paidFor));
      paidFor = end;
    }

    @Override
    public int length() {
      return text.length();
    }

    @Override
    public CharSequence subSequence(int start, int end) {
      return text.subSequence(start, end);
    }

    @Override
    public String toString() {
      return text;
    }
  }
}
