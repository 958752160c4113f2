package lectus.json;

import java.math.BigInteger;
import java.util.Arrays;

/**
 * Writes FoundationDB's tuple encoding directly into a growing buffer, byte for byte as {@code
 * com.apple.foundationdb.tuple.Tuple} packs it, without an intermediate list of boxed elements. A
 * writer can be cut back with {@link #truncate}, so one buffer serves every leaf path of a
 * document.
 */
public final class TupleWriter {
  /** The most bytes that one UTF-16 unit takes. A surrogate pair takes four. */
  private static final int LONGEST_CHARACTER = 3;

  private static final int MAX_INTEGER_BYTES = 255;
  private static final int MIN_CAPACITY = 16;
  private static final int TYPICAL_KEY_BYTES = 64;

  private byte[] buffer;
  private int length;

  public TupleWriter(int capacity) {
    buffer = new byte[Math.max(MIN_CAPACITY, capacity)];
  }

  /** Creates a writer whose bytes begin with {@code prefix}, unencoded. */
  public TupleWriter(byte[] prefix) {
    buffer = Arrays.copyOf(prefix, prefix.length + TYPICAL_KEY_BYTES);
    length = prefix.length;
  }

  public TupleWriter nil() {
    return octet(TupleType.NIL);
  }

  public TupleWriter bool(boolean value) {
    return octet(value ? TupleType.TRUE : TupleType.FALSE);
  }

  public TupleWriter bytes(byte[] value) {
    return escaped(TupleType.BYTES, value, 0, value.length);
  }

  /**
   * Appends a Unicode string.
   *
   * @throws IllegalArgumentException if it has an unpaired surrogate; the writer is then unusable
   *     until it is cut back
   */
  public TupleWriter string(String value) {
    int count = value.length();
    if (length + count + 2 > buffer.length) {
      grow(count + 2);
    }
    byte[] to = buffer;
    int first = length;
    to[first] = TupleType.STRING;
    for (int i = 0; i < count; i++) {
      char c = value.charAt(i);
      if (c == 0 || c >= 0x80) {
        length = first + 1 + i;
        return encoded(value.toCharArray(), i, count);
      }
      to[first + 1 + i] = (byte) c;
    }
    to[first + 1 + count] = 0;
    length = first + 2 + count;
    return this;
  }

  /**
   * Appends a Unicode string of {@code count} characters.
   *
   * @throws IllegalArgumentException as {@link #string(String)}
   */
  public TupleWriter string(char[] characters, int offset, int count) {
    if (length + count + 2 > buffer.length) {
      grow(count + 2);
    }
    byte[] to = buffer;
    int first = length;
    to[first] = TupleType.STRING;
    for (int i = 0; i < count; i++) {
      char c = characters[offset + i];
      if (c == 0 || c >= 0x80) {
        length = first + 1 + i;
        return encoded(characters, offset + i, offset + count);
      }
      to[first + 1 + i] = (byte) c;
    }
    to[first + 1 + count] = 0;
    length = first + 2 + count;
    return this;
  }

  public TupleWriter string(byte[] utf8, int offset, int count) {
    return escaped(TupleType.STRING, utf8, offset, count);
  }

  public TupleWriter integer(long value) {
    if (value == Long.MIN_VALUE) {
      return integer(BigInteger.valueOf(value));
    }
    int size = (Long.SIZE - Long.numberOfLeadingZeros(Math.abs(value)) + 7) / 8;
    if (length + 1 + size > buffer.length) {
      grow(1 + size);
    }
    buffer[length++] = (byte) (TupleType.INTEGER_ZERO + (value > 0 ? size : -size));
    // A negative number is stored as its one's complement, which is value - 1 in two's complement.
    long stored = value > 0 ? value : value - 1;
    for (int shift = (size - 1) * 8; shift >= 0; shift -= 8) {
      buffer[length++] = (byte) (stored >>> shift);
    }
    return this;
  }

  /**
   * Appends an integer of any size up to 255 bytes of magnitude.
   *
   * @throws IllegalArgumentException if it is larger
   */
  public TupleWriter integer(BigInteger value) {
    if (value.bitLength() < Long.SIZE && !value.equals(BigInteger.valueOf(Long.MIN_VALUE))) {
      return integer(value.longValueExact());
    }
    boolean positive = value.signum() > 0;
    int size = (value.abs().bitLength() + 7) / 8;
    if (size > MAX_INTEGER_BYTES) {
      throw new IllegalArgumentException("An integer of more than 255 bytes");
    }
    if (size > 8) {
      octet(positive ? TupleType.POSITIVE_BIG_INTEGER : TupleType.NEGATIVE_BIG_INTEGER);
      octet(positive ? size : size ^ 0xff);
    } else {
      octet(positive ? TupleType.INTEGER_ZERO + size : TupleType.INTEGER_ZERO - size);
    }
    byte[] stored = (positive ? value : value.subtract(BigInteger.ONE)).toByteArray();
    ensure(size);
    for (int i = stored.length - size; i < stored.length; i++) {
      buffer[length++] = i >= 0 ? stored[i] : (byte) (positive ? 0x00 : 0xff);
    }
    return this;
  }

  public TupleWriter real(double value) {
    long bits = Double.doubleToRawLongBits(value);
    long ordered = bits < 0 ? ~bits : bits ^ Long.MIN_VALUE;
    ensure(1 + Double.BYTES);
    buffer[length++] = TupleType.DOUBLE;
    for (int shift = 56; shift >= 0; shift -= 8) {
      buffer[length++] = (byte) (ordered >>> shift);
    }
    return this;
  }

  /** Appends a complete versionstamp or the placeholder for one: 12 bytes. */
  public TupleWriter versionstamp(byte[] twelve) {
    if (twelve.length != TupleType.VERSIONSTAMP_BYTES) {
      throw new IllegalArgumentException("A versionstamp has 12 bytes");
    }
    octet(TupleType.VERSIONSTAMP);
    return raw(twelve, 0, twelve.length);
  }

  /** Appends bytes as they are, outside the tuple encoding. */
  public TupleWriter raw(byte[] bytes) {
    return raw(bytes, 0, bytes.length);
  }

  /** Appends {@code count} bytes from {@code offset} as they are, outside the tuple encoding. */
  public TupleWriter raw(byte[] bytes, int offset, int count) {
    if (length + count > buffer.length) {
      grow(count);
    }
    System.arraycopy(bytes, offset, buffer, length, count);
    length += count;
    return this;
  }

  /** Appends one byte as it is: a type code of Lectus's own, or a format number. */
  public TupleWriter octet(int value) {
    if (length == buffer.length) {
      grow(1);
    }
    buffer[length++] = (byte) value;
    return this;
  }

  public int length() {
    return length;
  }

  /** Cuts back to an earlier {@link #length()}. */
  public TupleWriter truncate(int earlierLength) {
    if (earlierLength < 0 || earlierLength > length) {
      throw new IllegalArgumentException("Not an earlier length: " + earlierLength);
    }
    length = earlierLength;
    return this;
  }

  /**
   * Returns the buffer itself, valid until the next write. Its first {@link #length()} bytes count.
   */
  public byte[] array() {
    return buffer;
  }

  public byte[] toBytes() {
    return Arrays.copyOf(buffer, length);
  }

  private TupleWriter encoded(char[] characters, int from, int to) {
    ensure(Math.addExact(Math.multiplyExact(to - from, LONGEST_CHARACTER), 1));
    for (int i = from; i < to; i++) {
      char c = characters[i];
      if (c == 0) {
        buffer[length++] = 0;
        buffer[length++] = (byte) 0xff;
      } else if (c < 0x80) {
        buffer[length++] = (byte) c;
      } else if (c < 0x800) {
        buffer[length++] = (byte) (0xc0 | c >> 6);
        buffer[length++] = (byte) (0x80 | (c & 0x3f));
      } else if (!Character.isSurrogate(c)) {
        buffer[length++] = (byte) (0xe0 | c >> 12);
        buffer[length++] = (byte) (0x80 | (c >> 6 & 0x3f));
        buffer[length++] = (byte) (0x80 | (c & 0x3f));
      } else if (i + 1 < to && Character.isSurrogatePair(c, characters[i + 1])) {
        astral(Character.toCodePoint(c, characters[++i]));
      } else {
        throw new IllegalArgumentException("An unpaired surrogate at " + i);
      }
    }
    buffer[length++] = 0;
    return this;
  }

  private void astral(int codePoint) {
    buffer[length++] = (byte) (0xf0 | codePoint >> 18);
    buffer[length++] = (byte) (0x80 | (codePoint >> 12 & 0x3f));
    buffer[length++] = (byte) (0x80 | (codePoint >> 6 & 0x3f));
    buffer[length++] = (byte) (0x80 | (codePoint & 0x3f));
  }

  private TupleWriter escaped(int code, byte[] bytes, int offset, int count) {
    ensure(count + 2);
    buffer[length++] = (byte) code;
    for (int i = offset; i < offset + count; i++) {
      byte b = bytes[i];
      if (b == 0) {
        // The rest, its terminator, and this byte twice.
        ensure(offset + count - i + 2);
        buffer[length++] = 0;
        buffer[length++] = (byte) 0xff;
      } else {
        buffer[length++] = b;
      }
    }
    buffer[length++] = 0;
    return this;
  }

  private void ensure(int more) {
    if (length + more > buffer.length) {
      grow(more);
    }
  }

  private void grow(int more) {
    buffer = Arrays.copyOf(buffer, Math.max(buffer.length * 2, length + more));
  }

  /** Returns the length of an encoded string: UTF-8, each NUL twice, type code and terminator. */
  public static int lengthOf(String text) {
    int bytes = 2;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == 0 || (c >= 0x80 && c < 0x800) || Character.isSurrogate(c)) {
        bytes += 2;
      } else {
        bytes += c < 0x80 ? 1 : 3;
      }
    }
    return bytes;
  }
}
