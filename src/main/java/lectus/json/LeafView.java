package lectus.json;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.function.Predicate;
import lectus.json.Leaf.LeafMarkers;

/**
 * One value of a document: a window on the leaves at or below its path. If only some leaves of a
 * container were read, it has only the children with such leaves.
 */
public final class LeafView {
  /** Follows a NUL that belongs to a string; no element's type code. */
  private static final byte ESCAPED_NUL = (byte) 0xff;

  private static final int LONGEST_POSITION = 4;

  /** So many bytes of values take as long to go through as one leaf. */
  private static final int BYTES_LIKE_A_LEAF = 16;

  private final LeafList leaves;
  private final int from;
  private final int to;

  /** Where, in the keys, the last element of this value's path begins and ends. */
  private final int start;

  private final int end;

  LeafView(LeafList leaves, int from, int to, int start, int end) {
    this.leaves = leaves;
    this.from = from;
    this.to = to;
    this.start = start;
    this.end = end;
  }

  public LeafType type() {
    if (from == to) {
      return LeafType.MISSING;
    }
    byte[] key = leaves.key(from);
    if (key.length == end) {
      return scalarType();
    }
    return key[end] == TupleType.STRING ? LeafType.OBJECT : LeafType.ARRAY;
  }

  public boolean isMissing() {
    return from == to;
  }

  /**
   * Returns the cost of going through all of it: the number of its leaves, and a sixteenth of their
   * bytes.
   */
  public long size() {
    long bytes = 0;
    for (int i = from; i < to; i++) {
      bytes += leaves.value(i).length;
    }
    return to - from + bytes / BYTES_LIKE_A_LEAF;
  }

  /**
   * Returns the child that a field's name stands for; missing if there is none.
   *
   * @see Step
   */
  public LeafView child(Step step) {
    LeafView member = at(step.member);
    return member.isMissing() && step.position != null ? at(step.position) : member;
  }

  /** One name of a field, in its encoding within paths. */
  public static final class Step {
    private final byte[] member;
    private final byte[] position;

    private Step(byte[] member, byte[] position) {
      this.member = member;
      this.position = position;
    }

    /**
     * @param name of a member; a number is also the position of an array's element
     */
    public static Step of(String name) {
      return new Step(FieldPath.member(name), FieldPath.position(name));
    }
  }

  /** Returns the children of a container; none if the value is not a container. */
  public Children children() {
    return new Children();
  }

  /** Whether a container has a child that passes; false if the value is not a container. */
  public boolean hasChild(Predicate<LeafView> test) {
    Children children = children();
    for (LeafView child = children.next(); child != null; child = children.next()) {
      if (test.test(child)) {
        return true;
      }
    }
    return false;
  }

  /** The children of a container, in the order of the store. */
  public final class Children {
    private int next = to > from && leaves.key(from).length == end ? to : from;

    /** Returns the next child, or null. */
    public LeafView next() {
      if (next == to) {
        return null;
      }
      int first = next;
      byte[] key = leaves.key(first);
      int childEnd = elementEnd(key, end);
      next = first + 1;
      while (next < to && isWithin(key, childEnd, leaves.key(next))) {
        next++;
      }
      return new LeafView(leaves, first, next, end, childEnd);
    }

    private boolean isWithin(byte[] key, int childEnd, byte[] other) {
      return other.length >= childEnd
          && Arrays.equals(key, end, childEnd, other, end, childEnd)
          && (other.length == childEnd || other[childEnd] != ESCAPED_NUL);
    }
  }

  /** Returns this value's name, the name of an object's member, as a string value. */
  public LeafView name() {
    return LeafList.scalar(Arrays.copyOfRange(leaves.key(from), start, end));
  }

  /** Returns the UTF-8 bytes of a string. */
  public byte[] utf8() {
    return new TupleReader(leaves.value(from), 0).stringUtf8();
  }

  public String string() {
    return new String(utf8(), StandardCharsets.UTF_8);
  }

  /** Whether a number is an integer, written without fraction and exponent. */
  public boolean isInteger() {
    return new TupleReader(leaves.value(from), 0).isInteger();
  }

  public BigInteger integer() {
    return new TupleReader(leaves.value(from), 0).bigInteger();
  }

  /** Returns the double nearest to a number; equal for equal numbers. */
  public double nearestDouble() {
    TupleReader number = new TupleReader(leaves.value(from), 0);
    if (number.isReal()) {
      return number.real();
    }
    return number.isBigInteger() ? number.bigInteger().doubleValue() : number.integer();
  }

  /** Compares two numbers exactly, also integers with doubles. */
  public int compareNumbers(LeafView other) {
    TupleReader a = new TupleReader(leaves.value(from), 0);
    TupleReader b = new TupleReader(other.leaves.value(other.from), 0);
    if (isLong(a) && isLong(b)) {
      return Long.compare(a.integer(), b.integer());
    }
    if (a.isReal() && b.isReal()) {
      // Zeros are equal, whatever their signs.
      return Double.compare(a.real() + 0.0, b.real() + 0.0);
    }
    return decimal(a).compareTo(decimal(b));
  }

  /** Returns the stored bytes of a value that is not a container: one tuple element. */
  public byte[] element() {
    return leaves.value(from);
  }

  /** Whether both have the same leaves: {@code 1} and {@code 1.0} differ. */
  public boolean hasLeavesOf(LeafView other) {
    if (to - from != other.to - other.from) {
      return false;
    }
    for (int i = 0; i < to - from; i++) {
      byte[] key = leaves.key(from + i);
      byte[] otherKey = other.leaves.key(other.from + i);
      if (!Arrays.equals(key, end, key.length, otherKey, other.end, otherKey.length)
          || !Arrays.equals(leaves.value(from + i), other.leaves.value(other.from + i))) {
        return false;
      }
    }
    return true;
  }

  private LeafView at(byte[] element) {
    int first = firstNotBefore(element, false);
    int last = first < to ? firstNotBefore(element, true) : first;
    return new LeafView(leaves, first, last, end, end + element.length);
  }

  /** Returns the first leaf at or after {@code element}, or after everything below it. */
  private int firstNotBefore(byte[] element, boolean behind) {
    int low = from;
    int high = to;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (isBefore(leaves.key(middle), element, behind)) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  private boolean isBefore(byte[] key, byte[] element, boolean behind) {
    int different = Arrays.mismatch(key, end, key.length, element, 0, element.length);
    if (different < 0) {
      return behind;
    }
    if (different == element.length) {
      return behind && key[end + different] != ESCAPED_NUL;
    }
    return end + different == key.length
        || (key[end + different] & 0xff) < (element[different] & 0xff);
  }

  private LeafType scalarType() {
    byte[] value = leaves.value(from);
    if (value.length == 0) {
      throw new MalformedTupleException("A leaf without a value");
    }
    return switch (value[0]) {
      case TupleType.NIL -> LeafType.NULL;
      case TupleType.FALSE -> LeafType.FALSE;
      case TupleType.TRUE -> LeafType.TRUE;
      case TupleType.STRING, LeafMarkers.PIECES -> LeafType.STRING;
      case LeafMarkers.EMPTY_ARRAY -> LeafType.ARRAY;
      case LeafMarkers.EMPTY_OBJECT -> LeafType.OBJECT;
      default -> LeafType.NUMBER;
    };
  }

  private static int elementEnd(byte[] key, int at) {
    if (key[at] != TupleType.STRING) {
      int size = key[at] - TupleType.INTEGER_ZERO;
      if (size < 0 || size > LONGEST_POSITION) {
        throw new MalformedTupleException("No array position at " + at);
      }
      return at + 1 + size;
    }
    int nul = at + 1;
    while (key[nul] != 0 || (nul + 1 < key.length && key[nul + 1] == ESCAPED_NUL)) {
      nul += key[nul] == 0 ? 2 : 1;
    }
    return nul + 1;
  }

  private static boolean isLong(TupleReader number) {
    return number.isInteger() && !number.isBigInteger();
  }

  private static BigDecimal decimal(TupleReader number) {
    return number.isReal() ? new BigDecimal(number.real()) : new BigDecimal(number.bigInteger());
  }

  /** The type of a document's value, in CouchDB's order of types. */
  public enum LeafType {
    /** There is no such value. */
    MISSING,
    NULL,
    FALSE,
    TRUE,
    NUMBER,
    STRING,
    ARRAY,
    OBJECT;

    public boolean isContainer() {
      return this == ARRAY || this == OBJECT;
    }

    public boolean isBoolean() {
      return this == FALSE || this == TRUE;
    }
  }
}
