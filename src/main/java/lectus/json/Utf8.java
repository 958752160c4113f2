package lectus.json;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Strict UTF-8, RFC 3629. The parser used by {@link JsonInput} accepts over-long forms, encoded
 * surrogates and code points above U+10FFFF.
 */
final class Utf8 {
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);
  private static final long HIGH_BITS = 0x8080808080808080L;

  private Utf8() {}

  /** Returns the offset of the first byte that does not begin a well-formed character, or -1. */
  static int firstMalformed(byte[] data, int from, int to) {
    int i = from;
    while (i < to) {
      if (to - i >= 8 && ((long) LONGS.get(data, i) & HIGH_BITS) == 0) {
        i += 8;
      } else if (data[i] >= 0) {
        i++;
      } else {
        int size = sequence(data, i, to);
        if (size == 0) {
          return i;
        }
        i += size;
      }
    }
    return -1;
  }

  /** Returns the length of the multi-byte sequence at {@code i}, or 0 if it is malformed. */
  private static int sequence(byte[] data, int i, int to) {
    int lead = data[i] & 0xff;
    int size = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
    if (size == 0 || to - i < size || !secondFits(lead, data[i + 1] & 0xff)) {
      return 0;
    }
    for (int k = 2; k < size; k++) {
      if ((data[i + k] & 0xc0) != 0x80) {
        return 0;
      }
    }
    return size;
  }

  /** RFC 3629 section 4: after four lead bytes, the range of the second byte is narrower. */
  private static boolean secondFits(int lead, int second) {
    return switch (lead) {
      case 0xe0 -> second >= 0xa0 && second <= 0xbf;
      case 0xed -> second >= 0x80 && second <= 0x9f;
      case 0xf0 -> second >= 0x90 && second <= 0xbf;
      case 0xf4 -> second >= 0x80 && second <= 0x8f;
      default -> second >= 0x80 && second <= 0xbf;
    };
  }
}
