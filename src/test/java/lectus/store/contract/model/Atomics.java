package lectus.store.contract.model;

import com.apple.foundationdb.MutationType;
import java.util.Arrays;
import java.util.function.IntBinaryOperator;

/** Section 6's atomic operations, implemented again for clarity alone. */
public final class Atomics {
  private static final int VALUE_LIMIT = 100_000;

  private Atomics() {}

  /** Returns the new value. {@code old} and the result are null for a missing key. */
  public static byte[] apply(MutationType type, byte[] old, byte[] operand) {
    return switch (type) {
      case ADD -> add(old, operand);
      case AND, BIT_AND -> old == null ? operand : bitwise(old, operand, (a, b) -> a & b);
      case OR, BIT_OR -> bitwise(orEmpty(old), operand, (a, b) -> a | b);
      case XOR, BIT_XOR -> bitwise(orEmpty(old), operand, (a, b) -> a ^ b);
      case MAX -> isLess(fit(orEmpty(old), operand.length), operand) ? operand : cut(old, operand);
      case MIN -> {
        boolean stays = old != null && isLess(fit(old, operand.length), operand);
        yield stays ? fit(old, operand.length) : operand;
      }
      case BYTE_MIN -> old == null || Arrays.compareUnsigned(operand, old) < 0 ? operand : old;
      case BYTE_MAX -> old == null || Arrays.compareUnsigned(operand, old) > 0 ? operand : old;
      case APPEND_IF_FITS -> append(old, operand);
      case COMPARE_AND_CLEAR -> Arrays.equals(old, operand) ? null : old;
      default -> throw new IllegalArgumentException("Not modelled: " + type);
    };
  }

  private static byte[] add(byte[] old, byte[] operand) {
    byte[] sum = fit(orEmpty(old), operand.length);
    int carry = 0;
    for (int i = 0; i < sum.length; i++) {
      carry += (sum[i] & 0xff) + (operand[i] & 0xff);
      sum[i] = (byte) carry;
      carry >>>= 8;
    }
    return sum;
  }

  private static byte[] bitwise(byte[] old, byte[] operand, IntBinaryOperator operator) {
    byte[] result = fit(old, operand.length);
    for (int i = 0; i < result.length; i++) {
      result[i] = (byte) operator.applyAsInt(result[i], operand[i]);
    }
    return result;
  }

  private static byte[] append(byte[] old, byte[] operand) {
    byte[] head = orEmpty(old);
    if (head.length + operand.length > VALUE_LIMIT) {
      return old;
    }
    byte[] result = Arrays.copyOf(head, head.length + operand.length);
    System.arraycopy(operand, 0, result, head.length, operand.length);
    return result;
  }

  private static byte[] cut(byte[] old, byte[] operand) {
    return fit(orEmpty(old), operand.length);
  }

  /** Extends with zeros or cuts to a length. */
  private static byte[] fit(byte[] bytes, int length) {
    return Arrays.copyOf(bytes, length);
  }

  /** Compares little-endian numbers of the same length. */
  private static boolean isLess(byte[] left, byte[] right) {
    for (int i = left.length - 1; i >= 0; i--) {
      if (left[i] != right[i]) {
        return (left[i] & 0xff) < (right[i] & 0xff);
      }
    }
    return false;
  }

  private static byte[] orEmpty(byte[] value) {
    return value == null ? new byte[0] : value;
  }
}
