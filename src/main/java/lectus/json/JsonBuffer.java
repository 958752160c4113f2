package lectus.json;

import com.fasterxml.jackson.core.io.NumberOutput;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.math.BigInteger;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.function.Consumer;

/**
 * A growing buffer for JSON as UTF-8. The writer is responsible for commas and nesting, the buffer
 * for escaping and number syntax. Not thread-safe.
 */
public final class JsonBuffer {
  private static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);

  /** The byte is written unchanged. */
  static final byte PLAIN = 0;

  /** The byte is written as backslash, u and four digits. */
  static final byte UNICODE = 1;

  /** By unsigned byte: PLAIN, UNICODE, or the character after a backslash (RFC 8259, section 7). */
  static final byte[] KIND = kinds();

  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());

  /** One in each byte. */
  private static final long EACH = 0x0101010101010101L;

  private static final long HIGHEST_BITS = 0x8080808080808080L;

  private static final byte[] TRUE = asciiBytes("true");
  private static final byte[] FALSE = asciiBytes("false");
  private static final byte[] NULL = asciiBytes("null");
  private static final byte[] LONG_MIN = asciiBytes("-9223372036854775808");
  private static final int LONGEST_LONG = 20;

  /** Of a positive long. */
  private static final int MAX_DIGITS = 19;

  private static final int LONGEST_ESCAPE = 6;
  private static final int MIN_CAPACITY = 64;

  /**
   * Above this size in bytes, the buffer grows by a quarter instead of doubling: frequent copying
   * then costs less than unused memory.
   */
  private static final int LARGE = 1 << 20;

  private final int most;
  private byte[] bytes;
  private int length;

  public JsonBuffer(int capacity) {
    this(capacity, Integer.MAX_VALUE - 8);
  }

  private JsonBuffer(int capacity, int most) {
    this.bytes = new byte[Math.max(MIN_CAPACITY, capacity)];
    this.most = most;
  }

  /** Returns a buffer that refuses to hold more than this many bytes. */
  public static JsonBuffer atMost(int most, int capacity) {
    return new JsonBuffer(Math.min(most, capacity), most);
  }

  /** The buffer would have exceeded its limit. */
  public static final class FullException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private FullException() {
      super("The buffer is full", null, false, false);
    }
  }

  /** Appends one ASCII character: a brace, a comma, a line feed. */
  public JsonBuffer octet(char c) {
    if (length == bytes.length) {
      ensure(1);
    }
    bytes[length++] = (byte) c;
    return this;
  }

  /** Appends bytes unchanged. */
  public JsonBuffer raw(byte[] source) {
    return raw(source, 0, source.length);
  }

  public JsonBuffer raw(byte[] source, int from, int to) {
    int count = to - from;
    ensure(count);
    System.arraycopy(source, from, bytes, length, count);
    length += count;
    return this;
  }

  /** Appends ASCII text unchanged, neither quoted nor escaped. */
  public JsonBuffer ascii(String text) {
    int count = text.length();
    ensure(count);
    for (int i = 0; i < count; i++) {
      bytes[length++] = (byte) text.charAt(i);
    }
    return this;
  }

  /** Appends bytes as lower-case hex digits. */
  public JsonBuffer hex(byte[] source) {
    ensure(2 * source.length);
    for (byte b : source) {
      bytes[length++] = HEX[b >> 4 & 0xf];
      bytes[length++] = HEX[b & 0xf];
    }
    return this;
  }

  /** Appends a string, quoted and escaped. An unpaired surrogate becomes U+FFFD. */
  public JsonBuffer string(String text) {
    int count = text.length();
    ensure(count + 2);
    bytes[length++] = '"';
    for (int i = 0; i < count; i++) {
      char c = text.charAt(i);
      if (c >= 0x80 || KIND[c] != PLAIN) {
        length -= i;
        byte[] utf8 = wellFormed(text).getBytes(StandardCharsets.UTF_8);
        return escaped(utf8, 0, utf8.length).octet('"');
      }
      bytes[length++] = (byte) c;
    }
    return octet('"');
  }

  /**
   * Appends a tuple-encoded string (after its type code), quoted and escaped.
   *
   * @param from offset of the string's first byte
   * @param end end of the bytes that may belong to the string
   * @return the offset after the string's terminator
   * @throws MalformedTupleException if the string is not terminated
   */
  int tupleString(byte[] encoded, int from, int end) {
    octet('"');
    int run = from;
    for (int i = plainEnd(encoded, from, end); i < end; i = plainEnd(encoded, run, end)) {
      raw(encoded, run, i);
      run = i + 1;
      if (encoded[i] == 0) {
        if (run == end || encoded[run] != (byte) 0xff) {
          octet('"');
          return run;
        }
        run++;
      }
      escape(encoded[i], KIND[encoded[i]]);
    }
    throw new MalformedTupleException("An unterminated string at " + from);
  }

  /**
   * Appends a part of a tuple-encoded string, without type code and terminator: escaped, not
   * quoted.
   *
   * @throws MalformedTupleException if it contains the string's end
   */
  void tupleText(byte[] encoded, int from, int end) {
    int run = from;
    for (int i = plainEnd(encoded, from, end); i < end; i = plainEnd(encoded, run, end)) {
      raw(encoded, run, i);
      escape(encoded[i], KIND[encoded[i]]);
      run = i + 1;
      if (encoded[i] == 0 && (run == end || encoded[run++] != (byte) 0xff)) {
        throw new MalformedTupleException("A string ends within its text at " + i);
      }
    }
    raw(encoded, run, end);
  }

  /**
   * Returns the offset of the first byte that JSON escapes: a control character, a quote or a
   * backslash; {@code to} if there is none.
   */
  public static int plainEnd(byte[] utf8, int from, int to) {
    int at = from;
    while (to - at >= Long.BYTES && arePlain((long) LONGS.get(utf8, at))) {
      at += Long.BYTES;
    }
    while (at < to && KIND[utf8[at] & 0xff] == PLAIN) {
      at++;
    }
    return at;
  }

  public JsonBuffer number(long value) {
    if (value == Long.MIN_VALUE) {
      return raw(LONG_MIN);
    }
    ensure(LONGEST_LONG);
    long rest = value;
    if (rest < 0) {
      bytes[length++] = '-';
      rest = -rest;
    }
    int digits = digits(rest);
    for (int at = length + digits - 1; at >= length; at--) {
      bytes[at] = (byte) ('0' + rest % 10);
      rest /= 10;
    }
    length += digits;
    return this;
  }

  public JsonBuffer number(BigInteger value) {
    return ascii(value.toString());
  }

  /**
   * Appends a finite double, in the fewest digits that read back as the same double. The form is
   * JavaScript's, except that integral values keep a {@code .0}: {@code 1.0}, {@code -0.0}, {@code
   * 0.001}, {@code 1e-7}, {@code 1.5e+21}.
   *
   * @throws IllegalArgumentException for infinities and NaN, which JSON does not have
   */
  public JsonBuffer number(double value) {
    DoubleText.append(value, this);
    return this;
  }

  public JsonBuffer bool(boolean value) {
    return raw(value ? TRUE : FALSE);
  }

  public JsonBuffer nil() {
    return raw(NULL);
  }

  /** Appends parts with commas between them. */
  public <T> JsonBuffer each(Iterable<? extends T> all, Consumer<? super T> part) {
    boolean isFirst = true;
    for (T one : all) {
      if (!isFirst) {
        octet(',');
      }
      isFirst = false;
      part.accept(one);
    }
    return this;
  }

  /** Appends an array of strings. */
  public JsonBuffer strings(Iterable<String> all) {
    return octet('[').each(all, this::string).octet(']');
  }

  /**
   * Appends an object.
   *
   * @param value appends that of a member
   */
  public <T> JsonBuffer object(Map<String, T> members, Consumer<? super T> value) {
    Consumer<Map.Entry<String, T>> member =
        it -> {
          string(it.getKey()).octet(':');
          value.accept(it.getValue());
        };
    return octet('{').each(members.entrySet(), member).octet('}');
  }

  /** Returns the number of bytes written so far. */
  public int length() {
    return length;
  }

  /** Cuts back to an earlier {@link #length()}. */
  public JsonBuffer truncate(int earlierLength) {
    if (earlierLength < 0 || earlierLength > length) {
      throw new IllegalArgumentException("Not an earlier length: " + earlierLength);
    }
    length = earlierLength;
    return this;
  }

  /**
   * Returns the buffer itself, valid until the next write; its first {@link #length()} bytes count.
   */
  public byte[] array() {
    return bytes;
  }

  public byte[] toBytes() {
    return Arrays.copyOf(bytes, length);
  }

  /** Returns the content, for messages and tests. */
  @Override
  public String toString() {
    return new String(bytes, 0, length, StandardCharsets.UTF_8);
  }

  private JsonBuffer escaped(byte[] utf8, int from, int to) {
    int run = from;
    for (int i = plainEnd(utf8, from, to); i < to; i = plainEnd(utf8, run, to)) {
      raw(utf8, run, i);
      escape(utf8[i], KIND[utf8[i]]);
      run = i + 1;
    }
    return raw(utf8, run, to);
  }

  private void escape(byte b, byte kind) {
    ensure(LONGEST_ESCAPE);
    bytes[length++] = '\\';
    if (kind != UNICODE) {
      bytes[length++] = kind;
      return;
    }
    bytes[length++] = 'u';
    bytes[length++] = '0';
    bytes[length++] = '0';
    bytes[length++] = HEX[b >> 4 & 0xf];
    bytes[length++] = HEX[b & 0xf];
  }

  private void ensure(int more) {
    if (more > bytes.length - length) {
      grow(Math.addExact(length, more));
    }
  }

  private void grow(int needed) {
    if (needed > most) {
      throw new FullException();
    }
    bytes = Arrays.copyOf(bytes, Math.max(grown(), needed));
  }

  private int grown() {
    long more = bytes.length < LARGE ? bytes.length : bytes.length / 4;
    return (int) Math.min(bytes.length + more, most);
  }

  private static int digits(long value) {
    int digits = 1;
    for (long power = 10; digits < MAX_DIGITS && value >= power; power *= 10) {
      digits++;
    }
    return digits;
  }

  /** Java's encoder would replace a surrogate with a question mark. */
  private static String wellFormed(String text) {
    if (Surrogates.firstUnpaired(text) < 0) {
      return text;
    }
    int[] codePoints =
        text.codePoints().map(c -> c >= 0xd800 && c <= 0xdfff ? 0xfffd : c).toArray();
    return new String(codePoints, 0, codePoints.length);
  }

  private static byte[] asciiBytes(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  /**
   * Writes doubles as JSON. The digits are the fewest that read back as the same double. ({@code
   * Double.toString} finds them since JDK 19, which considers {@code 4.9e-324} nearer than {@code
   * 5e-324}.) The form is that of ECMAScript's Number::toString, with {@code .0} after integral
   * values so that they come back as doubles.
   */
  private static final class DoubleText {
    /** Below this, every integral double is a long, and its digits are the shortest. */
    private static final double EXACT_INTEGERS = 0x1p53;

    /** Most numbers of people have at most four decimals, as prices and coordinates have. */
    private static final int FEW_DECIMALS = 10_000;

    /** Below this, a number with few decimals has at most 13 digits. */
    private static final double EXACT_DECIMALS = 1e9;

    /** Values from 10 to this power, and below 10 to the other power, have an exponent. */
    private static final int LARGEST_PLAIN_EXPONENT = 21;

    private static final int SMALLEST_PLAIN_EXPONENT = -6;

    private DoubleText() {}

    static void append(double value, JsonBuffer out) {
      if (!Double.isFinite(value)) {
        throw new IllegalArgumentException("JSON has no " + value);
      }
      long integral = (long) value;
      if (integral == value && Math.abs(value) < EXACT_INTEGERS) {
        if (integral == 0 && Double.doubleToRawLongBits(value) < 0) {
          out.octet('-');
        }
        out.number(integral).ascii(".0");
        return;
      }
      if (!isShort(value, out)) {
        any(value, out);
      }
    }

    /**
     * Appends a number with few decimals; returns false if it has more. A decimal number of up to
     * 15 digits has a double of its own, so one that reads back as the value is the shortest.
     */
    private static boolean isShort(double value, JsonBuffer out) {
      double absolute = Math.abs(value);
      if (absolute >= EXACT_DECIMALS) {
        return false;
      }
      long scaled = Math.round(absolute * FEW_DECIMALS);
      if (scaled / (double) FEW_DECIMALS != absolute) {
        return false;
      }
      if (value < 0) {
        out.octet('-');
      }
      out.number(scaled / FEW_DECIMALS).octet('.');
      int rest = (int) (scaled % FEW_DECIMALS);
      for (int power = FEW_DECIMALS / 10; rest > 0; power /= 10) {
        out.octet((char) ('0' + rest / power));
        rest %= power;
      }
      return true;
    }

    private static void any(double value, JsonBuffer out) {
      String text = NumberOutput.toString(value, true);
      int exponentAt = text.indexOf('E');
      if (exponentAt < 0) {
        out.ascii(text);
      } else {
        place(text, exponentAt, out);
      }
    }

    /** Rewrites Java's {@code d.dddE±n}. */
    private static void place(String text, int exponentAt, JsonBuffer out) {
      int first = text.charAt(0) == '-' ? 1 : 0;
      if (first == 1) {
        out.octet('-');
      }
      int exponent = Integer.parseInt(text, exponentAt + 1, text.length(), 10);
      String fraction = text.substring(first + 2, exponentAt);
      String digits = text.charAt(first) + (fraction.equals("0") ? "" : fraction);
      if (exponent >= LARGEST_PLAIN_EXPONENT || exponent < SMALLEST_PLAIN_EXPONENT) {
        scientific(digits, exponent, out);
      } else if (exponent < 0) {
        out.ascii("0.").ascii("0".repeat(-exponent - 1)).ascii(digits);
      } else {
        plain(digits, exponent + 1, out);
      }
    }

    private static void scientific(String digits, int exponent, JsonBuffer out) {
      out.octet(digits.charAt(0));
      if (digits.length() > 1) {
        out.octet('.').ascii(digits.substring(1));
      }
      out.octet('e').octet(exponent < 0 ? '-' : '+').number(Math.abs(exponent));
    }

    private static void plain(String digits, int point, JsonBuffer out) {
      if (digits.length() > point) {
        out.ascii(digits.substring(0, point)).octet('.').ascii(digits.substring(point));
      } else {
        out.ascii(digits).ascii("0".repeat(point - digits.length())).ascii(".0");
      }
    }
  }

  /** Returns the length of a string's quoted form in bytes, from UTF-8 or tuple-encoded bytes. */
  static int quotedSize(byte[] utf8, int from, int to) {
    int size = 2 + to - from;
    for (int i = plainEnd(utf8, from, to); i < to; i = plainEnd(utf8, i + 1, to)) {
      size += KIND[utf8[i]] == UNICODE ? 5 : 1;
      // The second half of a tuple-encoded NUL.
      size -= utf8[i] == 0 && i + 1 < to && utf8[i + 1] == (byte) 0xff ? 1 : 0;
    }
    return size;
  }

  /**
   * Whether none of eight bytes is escaped. If one is smaller than what is taken from each byte, it
   * or one after it has its highest bit set in the difference, and not before.
   */
  static boolean arePlain(long bytes) {
    long quotes = bytes ^ '"' * EACH;
    long slashes = bytes ^ '\\' * EACH;
    long escaped =
        (bytes - ' ' * EACH & ~bytes) | (quotes - EACH & ~quotes) | (slashes - EACH & ~slashes);
    return (escaped & HIGHEST_BITS) == 0;
  }

  private static byte[] kinds() {
    byte[] kinds = new byte[256];
    Arrays.fill(kinds, 0, 0x20, UNICODE);
    kinds['"'] = '"';
    kinds['\\'] = '\\';
    kinds['\b'] = 'b';
    kinds['\f'] = 'f';
    kinds['\n'] = 'n';
    kinds['\r'] = 'r';
    kinds['\t'] = 't';
    return kinds;
  }
}
