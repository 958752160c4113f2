package lectus.selector;

import com.google.re2j.Pattern;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.function.IntPredicate;
import lectus.json.LeafType;
import lectus.json.LeafView;

/** What is asked of a value that is there. */
sealed interface Operator {
  boolean passes(LeafView value);

  /** What of the value must have been read: all of it, unless less will do. */
  default Extent extent() {
    return Extent.ALL;
  }

  /** The negation of an operator that has none of its own in the language. */
  record Not(Operator operator) implements Operator {
    @Override
    public boolean passes(LeafView value) {
      return !operator.passes(value);
    }

    /** The leaf alone does not tell a container, which passes, from a missing field. */
    @Override
    public Extent extent() {
      return operator.extent() == Extent.LEAF ? Extent.FIRST : operator.extent();
    }
  }

  /** {@code $eq}. */
  record Equal(LeafView argument) implements Operator {
    @Override
    public boolean passes(LeafView value) {
      return Collation.ORDER.areEqual(value, argument);
    }

    @Override
    public Extent extent() {
      return argument.children().next() == null ? Extent.LEAF : Extent.ALL;
    }
  }

  /**
   * {@code $lt}, {@code $lte}, {@code $gt}, {@code $gte}.
   *
   * @param order whether a value that compares so with the argument passes
   */
  record Ordered(LeafView argument, IntPredicate order) implements Operator {
    @Override
    public boolean passes(LeafView value) {
      return order.test(Collation.ORDER.compare(value, argument));
    }

    /** A container is greater than any scalar: where such do not pass, the leaf will do. */
    @Override
    public Extent extent() {
      if (!argument.type().isContainer()) {
        return order.test(1) ? Extent.FIRST : Extent.LEAF;
      }
      return argument.children().next() == null ? Extent.FIRST : Extent.ALL;
    }
  }

  /**
   * {@code $in}: of an array any element.
   *
   * @param arguments in {@link Collation}'s order
   */
  record In(List<LeafView> arguments) implements Operator {
    @Override
    public boolean passes(LeafView value) {
      return value.type() == LeafType.ARRAY ? value.hasChild(this::isArgument) : isArgument(value);
    }

    private boolean isArgument(LeafView value) {
      return Collections.binarySearch(arguments, value, Collation.ORDER) >= 0;
    }
  }

  /**
   * {@code $all}: an array that has each argument, to the letter: {@code 1} is not {@code 1.0}. Or
   * one that equals the only argument.
   */
  record Contains(List<LeafView> arguments) implements Operator {
    @Override
    public boolean passes(LeafView value) {
      if (arguments.isEmpty() || value.type() != LeafType.ARRAY) {
        return false;
      }
      return arguments.stream().allMatch(argument -> value.hasChild(it -> it.hasLeavesOf(argument)))
          || (arguments.size() == 1 && Collation.ORDER.areEqual(value, arguments.get(0)));
    }
  }

  /** {@code $exists: true}. */
  record Exists() implements Operator {
    @Override
    public boolean passes(LeafView value) {
      return true;
    }

    @Override
    public Extent extent() {
      return Extent.TYPE;
    }
  }

  /** {@code $type}; a name that no type has passes nothing. */
  record OfType(String name) implements Operator {
    @Override
    public boolean passes(LeafView value) {
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
    public boolean passes(LeafView value) {
      if (value.type() != LeafType.ARRAY) {
        return false;
      }
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
    public boolean passes(LeafView value) {
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
    public boolean passes(LeafView value) {
      return value.type() == LeafType.STRING && pattern.matcher(value.string()).find();
    }

    @Override
    public Extent extent() {
      return Extent.LEAF;
    }
  }

  /** {@code $beginsWith}. */
  record BeginsWith(byte[] utf8) implements Operator {
    @Override
    public boolean passes(LeafView value) {
      if (value.type() != LeafType.STRING) {
        return false;
      }
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
    public boolean passes(LeafView value) {
      return value.type() == LeafType.ARRAY && value.hasChild(condition::holds);
    }
  }

  /** {@code $allMatch}: an empty array does not pass. */
  record EveryElement(Condition condition) implements Operator {
    @Override
    public boolean passes(LeafView value) {
      return value.type() == LeafType.ARRAY
          && value.children().next() != null
          && !value.hasChild(it -> !condition.holds(it));
    }
  }

  /** {@code $keyMapMatch}: the name of any member of an object. */
  record AnyName(Condition condition) implements Operator {
    @Override
    public boolean passes(LeafView value) {
      return value.type() == LeafType.OBJECT && value.hasChild(it -> condition.holds(it.name()));
    }
  }
}
