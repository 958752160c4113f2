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
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import lectus.error.LectusException;

/**
 * A request body's JSON as a stream of tokens. Every fault is thrown as 400 {@code bad_request}
 * with line and column (both from 1, the column in characters): bad syntax, malformed UTF-8,
 * unpaired surrogates. Close it to return its buffers.
 */
public final class JsonInput implements AutoCloseable {
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
    int malformed = Utf8.firstMalformed(utf8, from, to);
    if (malformed >= 0) {
      throw notUtf8(utf8, from, malformed);
    }
    try {
      return new JsonInput(FACTORY.createParser(new Utf8Reader(utf8, from, to)));
    } catch (IOException e) {
      throw new IllegalStateException("A parser of an array performs no input", e);
    }
  }

  /** Returns the next token; null after the end of the outermost value. */
  public JsonToken next() {
    requireReadable();
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
  String rawName() {
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
}
