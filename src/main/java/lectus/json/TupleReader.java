package lectus.json;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.function.Function;

/**
 * Reads FoundationDB's tuple encoding element by element from a byte array, without building a
 * list. Every method throws {@link MalformedTupleException} if the bytes are not what it expects.
 */
public final class TupleReader {
  private final byte[] data;
  private final int end;
  private int position;

  public TupleReader(byte[] data, int offset, int end) {
    this.data = data;
    this.position = offset;
    this.end = end;
  }

  public TupleReader(byte[] data, int offset) {
    this.data = data;
    this.position = offset;
    this.end = data.length;
  }

  /**
   * Reads a key or value that has nothing but this.
   *
   * @throws MalformedTupleException if something follows
   */
  public <T> T only(Function<? super TupleReader, ? extends T> elements) {
    T read = elements.apply(this);
    end();
    return read;
  }

  /**
   * Ends the reading of a key or value. What follows its last element is damage: a row that no
   * writer makes, which must not be taken for the one that it resembles.
   */
  public void end() {
    if (position < end) {
      throw new MalformedTupleException("Something follows at " + position + ", where it ends");
    }
  }

  public boolean hasNext() {
    return position < end;
  }

  /** Returns the offset of the next element. */
  public int position() {
    return position;
  }

  /** Returns the type code of the next element, unsigned. */
  public int type() {
    if (position >= end) {
      throw new MalformedTupleException("The tuple ends at " + position);
    }
    return data[position] & 0xff;
  }

  public boolean isInteger() {
    int type = type();
    return type >= TupleType.NEGATIVE_BIG_INTEGER && type <= TupleType.POSITIVE_BIG_INTEGER;
  }

  public boolean isString() {
    return type() == TupleType.STRING;
  }

  public boolean isBytes() {
    return type() == TupleType.BYTES;
  }

  public boolean isNil() {
    return type() == TupleType.NIL;
  }

  public boolean isBool() {
    return type() == TupleType.FALSE || type() == TupleType.TRUE;
  }

  public boolean isReal() {
    return type() == TupleType.DOUBLE;
  }

  /**
   * Returns whether the next element is an integer that exceeds eight bytes or the range of a long.
   */
  public boolean isBigInteger() {
    int type = type();
    return type == TupleType.NEGATIVE_BIG_INTEGER
        || type == TupleType.POSITIVE_BIG_INTEGER
        || (type == TupleType.INTEGER_ZERO + 8 && first() < 0)
        || (type == TupleType.INTEGER_ZERO - 8 && first() >= 0);
  }

  /** Returns the first octet of the next element's content. */
  private int first() {
    if (position + 1 >= end) {
      throw new MalformedTupleException("It ends within an integer");
    }
    return data[position + 1];
  }

  public TupleReader nil() {
    expect(TupleType.NIL);
    return this;
  }

  public boolean bool() {
    int type = type();
    if (type != TupleType.FALSE && type != TupleType.TRUE) {
      throw unexpected("a boolean");
    }
    position++;
    return type == TupleType.TRUE;
  }

  public byte[] bytes() {
    expect(TupleType.BYTES);
    return unescaped();
  }

  public String string() {
    return new String(stringUtf8(), StandardCharsets.UTF_8);
  }

  /** Reads a string as its UTF-8 bytes. */
  public byte[] stringUtf8() {
    expect(TupleType.STRING);
    return unescaped();
  }

  public int smallInteger() {
    long value = integer();
    if (value != (int) value) {
      throw new MalformedTupleException("An integer out of range: " + value);
    }
    return (int) value;
  }

  public long integer() {
    int size = type() - TupleType.INTEGER_ZERO;
    boolean negative = size < 0;
    size = Math.abs(size);
    if (size > Long.BYTES) {
      throw unexpected("an integer of at most 63 bits");
    }
    if (position + 1 + size > end) {
      throw new MalformedTupleException("It ends within an integer");
    }
    if (size == Long.BYTES && data[position + 1] < 0 != negative) {
      throw unexpected("an integer of at most 63 bits");
    }
    position++;
    long value = negative ? -1L : 0L;
    for (int i = 0; i < size; i++) {
      value = (value << 8) | (data[position++] & 0xff);
    }
    return negative ? value + 1 : value;
  }

  public BigInteger bigInteger() {
    if (!isInteger()) {
      throw unexpected("an integer");
    }
    int type = data[position++] & 0xff;
    boolean negative = type < TupleType.INTEGER_ZERO;
    int size = Math.abs(type - TupleType.INTEGER_ZERO);
    if (size > 8) {
      need(1);
      size = negative ? (data[position++] ^ 0xff) & 0xff : data[position++] & 0xff;
    }
    need(size);
    byte[] magnitude = new byte[size + 1];
    magnitude[0] = (byte) (negative ? 0xff : 0x00);
    System.arraycopy(data, position, magnitude, 1, size);
    position += size;
    BigInteger value = new BigInteger(magnitude);
    return negative ? value.add(BigInteger.ONE) : value;
  }

  public double real() {
    expect(TupleType.DOUBLE);
    need(8);
    long ordered = 0;
    for (int i = 0; i < 8; i++) {
      ordered = (ordered << 8) | (data[position++] & 0xff);
    }
    return Double.longBitsToDouble(ordered < 0 ? ordered ^ Long.MIN_VALUE : ~ordered);
  }

  /** Reads the 12 bytes of a versionstamp. */
  public byte[] versionstamp() {
    expect(TupleType.VERSIONSTAMP);
    need(TupleType.VERSIONSTAMP_BYTES);
    position += TupleType.VERSIONSTAMP_BYTES;
    return Arrays.copyOfRange(data, position - TupleType.VERSIONSTAMP_BYTES, position);
  }

  /** Reads the remaining bytes as they are. */
  public byte[] rest() {
    byte[] rest = Arrays.copyOfRange(data, position, end);
    position = end;
    return rest;
  }

  private byte[] unescaped() {
    int from = position;
    int nuls = 0;
    int i = from;
    while (true) {
      if (i >= end) {
        throw new MalformedTupleException("An unterminated string at " + from);
      }
      if (data[i] == 0) {
        if (i + 1 < end && data[i + 1] == (byte) 0xff) {
          nuls++;
          i++;
        } else {
          break;
        }
      }
      i++;
    }
    position = i + 1;
    if (nuls == 0) {
      return Arrays.copyOfRange(data, from, i);
    }
    byte[] plain = new byte[i - from - nuls];
    for (int read = from, write = 0; read < i; read++) {
      plain[write++] = data[read];
      if (data[read] == 0) {
        read++;
      }
    }
    return plain;
  }

  private void expect(int code) {
    if (position >= end || (data[position] & 0xff) != code) {
      throw unexpected("type " + code);
    }
    position++;
  }

  private void need(int count) {
    if (position + count > end) {
      throw new MalformedTupleException("The tuple ends within an element at " + position);
    }
  }

  private MalformedTupleException unexpected(String wanted) {
    return new MalformedTupleException(
        "Expected " + wanted + ", found type " + type() + " at " + position);
  }

  /** Returns whether {@code key} is the tuple {@code prefix} or extends it with more elements. */
  public static boolean isAtOrBelow(byte[] prefix, byte[] key) {
    return isAtOrBelow(prefix, prefix.length, key, 0, key.length);
  }

  /** The same of a key that is a part of an array. */
  public static boolean isAtOrBelow(byte[] prefix, byte[] bytes, int from, int to) {
    return isAtOrBelow(prefix, prefix.length, bytes, from, to);
  }

  /** The same of a prefix that is the beginning of an array. A NUL in a string has FF behind it. */
  public static boolean isAtOrBelow(byte[] prefix, int prefixEnd, byte[] bytes, int from, int to) {
    int end = from + prefixEnd;
    // The last letter of a name stands before its end, and tells most names apart.
    int letter = Math.max(0, prefixEnd - 2);
    return to >= end
        && (prefixEnd == 0 || prefix[letter] == bytes[from + letter])
        && Arrays.equals(prefix, 0, prefixEnd, bytes, from, end)
        && (to == end || bytes[end] != (byte) 0xff);
  }
}
