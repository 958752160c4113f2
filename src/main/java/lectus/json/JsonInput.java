package lectus.json;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.exc.StreamConstraintsException;
import com.fasterxml.jackson.core.io.JsonEOFException;
import java.io.CharConversionException;
import java.io.IOException;
import java.io.Reader;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import lectus.error.LectusException;

/**
 * A request body's JSON as a stream of tokens. Every fault is thrown as 400 {@code bad_request}
 * with line and column (both from 1, the column in characters): bad syntax, malformed UTF-8,
 * unpaired surrogates. Close it to return its buffers.
 */
public final class JsonInput implements AutoCloseable {
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());
  private static final long HIGH_BITS = 0x8080808080808080L;

  static final String UNPAIRED_SURROGATE = "a string has an unpaired surrogate";
  private static final String UNEXPECTED_END = "unexpected end of the input";

  /**
   * Deeper than any path that {@link JsonLimits} allow to be stored. It keeps a body that consists
   * of brackets from filling the memory where it is skipped.
   */
  private static final int DEEPEST_NESTING = 2 * JsonLimits.STORE_KEY_BYTES;

  /**
   * Maximum length of a member's name, in characters. The parser assembles a name before anyone can
   * check it, so a body that is one long name would fill the memory. The paths of {@link
   * JsonLimits} have room for less than a hundredth of it, so documents whose names are merely too
   * long are still refused one by one.
   */
  static final int LONGEST_NAME = 1 << 20;

  /** Symbol tables would keep clients' member names in memory between requests. */
  private static final JsonFactory FACTORY =
      JsonFactory.builder()
          .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
          .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
          .enable(StreamReadFeature.USE_FAST_DOUBLE_PARSER)
          .disable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION)
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxNestingDepth(DEEPEST_NESTING)
                  .maxStringLength(Integer.MAX_VALUE)
                  .maxNameLength(LONGEST_NAME)
                  .maxNumberLength(Integer.MAX_VALUE)
                  .build())
          .build();

  /** Where the parser's messages stop describing the input. */
  private static final List<String> PARSER_ASIDES =
      List.of(" (for ", ": enable ", ": maybe a ", "\n");

  private final JsonParser parser;
  private boolean started;

  /** The reason why the rest cannot be read; null if it can. */
  private LectusException broken;

  private JsonInput(JsonParser parser) {
    this.parser = parser;
  }

  public static JsonInput of(byte[] utf8) {
    return of(utf8, 0, utf8.length);
  }

  /**
   * Reads the bytes from {@code from} (inclusive) to {@code to} (exclusive).
   *
   * @throws LectusException 400 if they are not well-formed UTF-8
   */
  public static JsonInput of(byte[] utf8, int from, int to) {
    int malformed = firstMalformed(utf8, from, to);
    if (malformed >= 0) {
      throw notUtf8(utf8, from, malformed);
    }
    try {
      return new JsonInput(FACTORY.createParser(new Utf8Reader(utf8, from, to)));
    } catch (IOException e) {
      throw new IllegalStateException("A parser of an array performs no input", e);
    }
  }

  /**
   * Reads bytes that come in parts. They are verified while they are read.
   *
   * @param parts one after the other, which may end anywhere; an empty one at the end
   */
  public static JsonInput of(Supplier<byte[]> parts) {
    try {
      return new JsonInput(FACTORY.createParser(new Utf8Parts(parts)));
    } catch (IOException e) {
      throw new IllegalStateException("A parser reads nothing before it is asked", e);
    }
  }

  /** Returns the next token; null after the end of the outermost value. */
  public JsonToken next() {
    if (broken != null) {
      throw broken;
    }
    try {
      JsonToken token = parser.nextToken();
      if (token == null && !started) {
        throw invalid(parser.currentLocation(), UNEXPECTED_END);
      }
      started = true;
      return token;
    } catch (IOException e) {
      throw failure(e);
    }
  }

  /** Returns the current token; null before the first {@link #next()}. */
  public JsonToken token() {
    return parser.currentToken();
  }

  /**
   * Returns the name of the current member.
   *
   * @throws LectusException 400 if it has an unpaired surrogate
   */
  public String name() {
    return checked(rawName());
  }

  /**
   * Returns the text of the current string, number or literal.
   *
   * @throws LectusException 400 if it has an unpaired surrogate
   */
  public String text() {
    try {
      return checked(parser.getText());
    } catch (IOException e) {
      throw failure(e);
    }
  }

  /** Returns the number of characters in the current string without assembling it. */
  public int textLength() {
    try {
      return parser.getTextLength();
    } catch (IOException e) {
      throw failure(e);
    }
  }

  /** Skips the value at the current token; afterwards the input stands on its last token. */
  public void skip() {
    requireReadable();
    try {
      parser.skipChildren();
    } catch (IOException e) {
      throw failure(e);
    }
  }

  /**
   * Skips the value at the current token.
   *
   * @param text the whole input
   * @return the value's JSON
   */
  public String skipped(String text) {
    int begin = (int) parser.currentTokenLocation().getCharOffset();
    skip();
    try {
      parser.finishToken();
    } catch (IOException e) {
      throw failure(e);
    }
    return text.substring(begin, (int) parser.currentLocation().getCharOffset());
  }

  /**
   * Returns the number of objects and arrays around the current token. A bracket lies outside its
   * own container.
   */
  public int depth() {
    JsonToken token = parser.currentToken();
    int open = parser.getParsingContext().getNestingDepth();
    return token != null && token.isStructStart() ? open - 1 : open;
  }

  /**
   * Moves to the last token of the member in which the input stands, however far it was read.
   *
   * @param depth the depth of the member's name
   * @throws LectusException 400 if the rest is not JSON, or if the input was already broken
   */
  public void finishMember(int depth) {
    requireReadable();
    if (token() == JsonToken.FIELD_NAME && depth() == depth) {
      next();
    }
    if (depth() == depth) {
      skip();
    }
    while (depth() > depth) {
      next();
    }
  }

  /**
   * Checks that nothing but white space follows.
   *
   * @throws LectusException 400
   */
  public void expectEnd() {
    if (next() != null) {
      throw invalid("unexpected content behind the end of the value");
    }
  }

  /** Returns a 400 whose reason names the position of the current token. */
  public LectusException invalid(String what) {
    return invalid(parser.currentTokenLocation(), what);
  }

  @Override
  public void close() {
    try {
      parser.close();
    } catch (IOException e) {
      throw new IllegalStateException("A parser of an array performs no output", e);
    }
  }

  /** Returns the parser for the exploder, which reads characters without creating strings. */
  JsonParser parser() {
    return parser;
  }

  /** Returns the member's name, which may have unpaired surrogates. */
  public String rawName() {
    try {
      return parser.currentName();
    } catch (IOException e) {
      throw failure(e);
    }
  }

  /** Bad syntax ends the input: every later read throws it again. */
  LectusException failure(IOException e) {
    broken = told(e);
    return broken;
  }

  private void requireReadable() {
    if (broken != null) {
      throw broken;
    }
  }

  private LectusException told(IOException e) {
    if (e instanceof JsonEOFException end) {
      return invalid(end.getLocation(), UNEXPECTED_END);
    }
    if (e instanceof StreamConstraintsException broken) {
      return invalid(parser.currentLocation(), constraint(broken));
    }
    if (e instanceof JsonProcessingException syntax && syntax.getLocation() != null) {
      return invalid(syntax.getLocation(), withoutAsides(syntax.getOriginalMessage()));
    }
    return invalid(parser.currentLocation(), withoutAsides(e.getMessage()));
  }

  /** Jackson has one exception type for all constraints. */
  private static String constraint(StreamConstraintsException broken) {
    String message = broken.getOriginalMessage();
    if (message.startsWith("Document nesting depth")) {
      return "nested deeper than " + DEEPEST_NESTING;
    }
    return message.startsWith("Name length")
        ? "a name is longer than " + LONGEST_NAME + " characters"
        : withoutAsides(message);
  }

  private String checked(String text) {
    if (Surrogates.firstUnpaired(text) >= 0) {
      throw invalid(UNPAIRED_SURROGATE);
    }
    return text;
  }

  private static LectusException invalid(JsonLocation at, String what) {
    return invalid(at.getLineNr(), at.getColumnNr(), what);
  }

  private static LectusException invalid(int line, int column, String what) {
    return LectusException.badRequest(
        "Invalid JSON at line " + line + ", column " + column + ": " + what);
  }

  private static LectusException notUtf8(byte[] data, int from, int malformed) {
    String before = new String(data, from, malformed - from, StandardCharsets.UTF_8);
    int line = 1 + (int) before.chars().filter(c -> c == '\n').count();
    int column = before.length() - before.lastIndexOf('\n');
    return invalid(line, column, "malformed UTF-8");
  }

  private static String withoutAsides(String message) {
    int end = message.length();
    for (String aside : PARSER_ASIDES) {
      int at = message.indexOf(aside);
      end = at > 0 ? Math.min(end, at) : end;
    }
    return message.substring(0, end);
  }

  /**
   * Returns the offset of the first byte that does not begin a well-formed character of strict
   * UTF-8 (RFC 3629), or -1. The parser accepts over-long forms, encoded surrogates and code points
   * above U+10FFFF.
   */
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

  /**
   * Reads characters from a byte array known to be well-formed UTF-8. From bytes, the parser would
   * guess the encoding and keep member names in a symbol table, so it gets a reader.
   */
  private static final class Utf8Reader extends Reader {
    private final byte[] data;
    private final int to;
    private int position;

    /** The second half of a surrogate pair that did not fit, or 0. */
    private char pending;

    Utf8Reader(byte[] data, int from, int to) {
      this.data = data;
      this.position = from;
      this.to = to;
    }

    @Override
    public int read(char[] target, int offset, int count) {
      int at = offset;
      int end = offset + count;
      if (pending != 0 && at < end) {
        target[at++] = pending;
        pending = 0;
      }
      while (at < end && position < to) {
        int b = data[position];
        if (b >= 0) {
          target[at++] = (char) b;
          position++;
        } else {
          at = multiByte(b & 0xff, target, at, end);
        }
      }
      return at == offset && count > 0 ? -1 : at - offset;
    }

    @Override
    public void close() {
      position = to;
    }

    private int multiByte(int lead, char[] target, int at, int end) {
      int size = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
      int codePoint = lead & (0x7f >> size);
      for (int i = 1; i < size; i++) {
        codePoint = codePoint << 6 | (data[position + i] & 0x3f);
      }
      position += size;
      if (size < 4) {
        target[at] = (char) codePoint;
        return at + 1;
      }
      target[at] = Character.highSurrogate(codePoint);
      if (at + 1 < end) {
        target[at + 1] = Character.lowSurrogate(codePoint);
        return at + 2;
      }
      pending = Character.lowSurrogate(codePoint);
      return at + 1;
    }
  }

  /** Reads characters of UTF-8 that comes in parts, which may end anywhere, and verifies it. */
  private static final class Utf8Parts extends Reader {
    private static final int LONGEST_CHARACTER = 4;

    private final Supplier<byte[]> parts;
    private Utf8Reader reader = new Utf8Reader(new byte[0], 0, 0);

    /** The beginning of a character at the end of the last part. */
    private byte[] rest = new byte[0];

    private boolean isMalformed;
    private boolean ended;

    /**
     * @param parts one after the other; an empty one at the end
     */
    Utf8Parts(Supplier<byte[]> parts) {
      this.parts = parts;
    }

    @Override
    public int read(char[] target, int offset, int count) throws IOException {
      int read = reader.read(target, offset, count);
      while (read < 0 && !ended) {
        begin(parts.get());
        read = reader.read(target, offset, count);
      }
      return read;
    }

    private void begin(byte[] part) throws IOException {
      ended = part.length == 0;
      if (isMalformed || (ended && rest.length > 0)) {
        throw new CharConversionException("malformed UTF-8");
      }
      byte[] bytes = part;
      if (rest.length > 0) {
        bytes = Arrays.copyOf(rest, rest.length + part.length);
        System.arraycopy(part, 0, bytes, rest.length, part.length);
      }
      int whole = wholeCharacters(bytes);
      int malformed = firstMalformed(bytes, 0, whole);
      isMalformed = malformed >= 0;
      rest = Arrays.copyOfRange(bytes, whole, bytes.length);
      reader = new Utf8Reader(bytes, 0, isMalformed ? malformed : whole);
    }

    /** Returns where the last character begins if it is not complete, or the end. */
    private static int wholeCharacters(byte[] bytes) {
      int end = bytes.length;
      for (int back = 1; back < LONGEST_CHARACTER && back <= end; back++) {
        int octet = bytes[end - back] & 0xff;
        if (octet >= 0xc0) {
          int length = octet < 0xe0 ? 2 : octet < 0xf0 ? 3 : 4;
          return length > back ? end - back : end;
        }
        if (octet < 0x80) {
          return end;
        }
      }
      return end;
    }

    @Override
    public void close() {
      reader.close();
    }
  }
}
