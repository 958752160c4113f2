package lectus.store.embedded.engine;

import com.apple.foundationdb.MutationType;
import java.util.Arrays;

/**
 * Applies atomic operations to an existing value and an operand (docs/foundationdb-contract.md,
 * section 6), for API version 510 and later. Null stands for a missing key, as argument and as
 * result.
 */
public final class AtomicOperations {
  /** The maximum length of a value, in bytes (docs/foundationdb-contract.md, section 2). */
  public static final int MAX_VALUE_BYTES = 100_000;

  private AtomicOperations() {}

  /**
   * Returns the value after {@code type} with {@code operand}, or null if the key is cleared or
   * stays missing.
   */
  @SuppressWarnings("deprecation") // AND, OR and XOR are older names that still work.
  public static byte[] apply(MutationType type, byte[] existing, byte[] operand) {
    return switch (type) {
      case ADD -> add(existing, operand);
      case AND, BIT_AND -> and(existing, operand);
      case OR, BIT_OR -> or(existing, operand);
      case XOR, BIT_XOR -> xor(existing, operand);
      case MAX -> max(existing, operand);
      case MIN -> min(existing, operand);
      case BYTE_MIN ->
          existing != null && Arrays.compareUnsigned(existing, operand) < 0 ? existing : operand;
      case BYTE_MAX ->
          existing != null && Arrays.compareUnsigned(existing, operand) > 0 ? existing : operand;
      case APPEND_IF_FITS -> appendIfFits(existing, operand);
      case COMPARE_AND_CLEAR ->
          existing != null && Arrays.equals(existing, operand) ? null : existing;
      default -> throw new IllegalArgumentException(type + " needs no existing value");
    };
  }

  private static byte[] add(byte[] existing, byte[] operand) {
    if (isAbsent(existing)) {
      return operand;
    }
    byte[] sum = new byte[operand.length];
    int carry = 0;
    for (int i = 0; i < sum.length; i++) {
      carry += (i < existing.length ? existing[i] & 0xFF : 0) + (operand[i] & 0xFF);
      sum[i] = (byte) carry;
      carry >>>= 8;
    }
    return sum;
  }

  private static byte[] and(byte[] existing, byte[] operand) {
    if (existing == null) {
      return operand;
    }
    byte[] result = Arrays.copyOf(existing, operand.length);
    for (int i = 0; i < result.length; i++) {
      result[i] &= operand[i];
    }
    return result;
  }

  private static byte[] or(byte[] existing, byte[] operand) {
    if (isAbsent(existing)) {
      return operand;
    }
    byte[] result = Arrays.copyOf(existing, operand.length);
    for (int i = 0; i < result.length; i++) {
      result[i] |= operand[i];
    }
    return result;
  }

  private static byte[] xor(byte[] existing, byte[] operand) {
    if (isAbsent(existing)) {
      return operand;
    }
    byte[] result = Arrays.copyOf(existing, operand.length);
    for (int i = 0; i < result.length; i++) {
      result[i] ^= operand[i];
    }
    return result;
  }

  private static byte[] max(byte[] existing, byte[] operand) {
    if (isAbsent(existing)) {
      return operand;
    }
    byte[] cut = Arrays.copyOf(existing, operand.length);
    return compareLittleEndian(cut, operand) > 0 ? cut : operand;
  }

  private static byte[] min(byte[] existing, byte[] operand) {
    if (existing == null) {
      return operand;
    }
    byte[] cut = Arrays.copyOf(existing, operand.length);
    return compareLittleEndian(cut, operand) < 0 ? cut : operand;
  }

  private static byte[] appendIfFits(byte[] existing, byte[] operand) {
    if (isAbsent(existing)) {
      return operand;
    }
    if (existing.length + operand.length > MAX_VALUE_BYTES) {
      return existing;
    }
    byte[] result = Arrays.copyOf(existing, existing.length + operand.length);
    System.arraycopy(operand, 0, result, existing.length, operand.length);
    return result;
  }

  private static int compareLittleEndian(byte[] left, byte[] right) {
    for (int i = left.length - 1; i >= 0; i--) {
      int difference = (left[i] & 0xFF) - (right[i] & 0xFF);
      if (difference != 0) {
        return difference;
      }
    }
    return 0;
  }

  private static boolean isAbsent(byte[] existing) {
    return existing == null || existing.length == 0;
  }
}
