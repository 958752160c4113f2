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
 * A request body's JSON as a stream of tokens. Whatever is wrong with it is thrown as 400 {@code
 * bad_request} with line and column (both from 1, the column in characters): syntax, malformed
 * UTF-8, unpaired surrogates. Close it to give its buffers back.
 */
public final class JsonInput implements AutoCloseable {
  static final String UNPAIRED_SURROGATE = "a string has an unpaired surrogate";
  private static final String UNEXPECTED_END = "unexpected end of the input";

  /**
   * Deeper than any path of {@link JsonLimits}, which bound what is stored. It keeps a body of
   * nothing but brackets from filling the memory where it is skipped.
   */
  private static final int DEEPEST_NESTING = 2 * JsonLimits.STORE_KEY_BYTES;

  /**
   * Longest name of a member, in characters. The parser puts a name together before anybody sees
   * it, so a body that is one name would fill the memory. No path of {@link JsonLimits} has room
   * for a hundredth of it: documents with names that are merely too long are told so one by one.
   */
  static final int LONGEST_NAME = 1 << 20;

  /** Symbol tables would keep clients' member names alive between requests. */
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

  /** Where the parser's messages stop being about the input. */
  private static final List<String> PARSER_ASIDES =
      List.of(" (for ", ": enable ", ": maybe a ", "\n");

  private final JsonParser parser;
  private boolean started;

  /** Why the rest cannot be read; null as long as it can. */
  private LectusException broken;

  private JsonInput(JsonParser parser) {
    this.parser = parser;
  }

  public static JsonInput of(byte[] utf8) {
    return of(utf8, 0, utf8.length);
  }

  /**
   * Reads the bytes from {@code from} up to {@code to}.
   *
   * @throws LectusException 400 when they are not well-formed UTF-8
   */
  public static JsonInput of(byte[] utf8, int from, int to) {
    int malformed = Utf8.firstMalformed(utf8, from, to);
    if (malformed >= 0) {
      throw notUtf8(utf8, from, malformed);
    }
    try {
      return new JsonInput(FACTORY.createParser(new Utf8Reader(utf8, from, to)));
    } catch (IOException e) {
      throw new IllegalStateException("A parser over an array does no input", e);
    }
  }

  /** The next token, or null behind the end of the outermost value. */
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

  /** The current token; null before the first {@link #next()}. */
  public JsonToken token() {
    return parser.currentToken();
  }

  /**
   * The name of the current member.
   *
   * @throws LectusException 400 when it has an unpaired surrogate
   */
  public String name() {
    return checked(rawName());
  }

  /**
   * The current string's text, or a number's or literal's as it is written.
   *
   * @throws LectusException 400 when it has an unpaired surrogate
   */
  public String text() {
    try {
      return checked(parser.getText());
    } catch (IOException e) {
      throw failure(e);
    }
  }

  /** How many characters the current string has, told without putting it together. */
  public int textLength() {
    try {
      return parser.getTextLength();
    } catch (IOException e) {
      throw failure(e);
    }
  }

  /** Skips the value at the current token: stands on its last token then. */
  public void skip() {
    requireReadable();
    try {
      parser.skipChildren();
    } catch (IOException e) {
      throw failure(e);
    }
  }

  /** How many objects and arrays the current token lies in; brackets lie outside of their own. */
  public int depth() {
    JsonToken token = parser.currentToken();
    int open = parser.getParsingContext().getNestingDepth();
    return token != null && token.isStructStart() ? open - 1 : open;
  }

  /**
   * Goes on to the last token of the member in which the input stands, however far it was read.
   *
   * @param depth of the member's name
   * @throws LectusException 400 where that is no JSON; what could not be read before cannot now
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

  /** A 400 whose reason names the place of the current token. */
  public LectusException invalid(String what) {
    return invalid(parser.currentTokenLocation(), what);
  }

  @Override
  public void close() {
    try {
      parser.close();
    } catch (IOException e) {
      throw new IllegalStateException("A parser over an array does no output", e);
    }
  }

  /** The parser for the exploder, which reads characters without making strings of them. */
  JsonParser parser() {
    return parser;
  }

  /** The member's name, in which surrogates may be unpaired. */
  String rawName() {
    try {
      return parser.currentName();
    } catch (IOException e) {
      throw failure(e);
    }
  }

  /** A broken syntax, which is the end of the input: it is told again by whatever reads on. */
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

  /** Jackson's exception has one type for all constraints. */
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
