package lectus.json;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import lectus.error.LectusException;
import lectus.json.Leaf.LeafMarkers;

/**
 * Explodes the members of one document into leaves while they are read (<a
 * href="https://github.com/apache/couchdb/blob/main/src/docs/rfcs/004-document-storage.md">RFC
 * 004</a>, "Value Encoding"). The caller walks the outermost object and passes on each member that
 * it does not handle itself:
 *
 * <pre>{@code
 * while (input.next() == JsonToken.FIELD_NAME) {
 *   exploder.member(input.name());
 * }
 * ExplodedBody body = exploder.finish();
 * }</pre>
 *
 * <p>Of duplicate members, at any depth, the last one wins; the earlier one is dropped with
 * everything below it. Nesting uses no stack; only the limit on paths bounds it. Exceeded limits
 * are thrown as 413 {@code document_too_large} (see {@link JsonLimits}), malformed JSON and values
 * that cannot be stored as 400 {@code bad_request}.
 */
public final class JsonExploder {
  /** A document is kept up to so many bytes beyond its limit, since members may replace others. */
  private static final int SLACK_BYTES = 1_000_000;

  private final JsonInput input;
  private final JsonLimits limits;

  /** The size from which on a document is only measured. */
  private final long keptBytes;

  /** Of a value that is stored in one piece, in bytes. */
  private final int longestPath;

  private final Choice choice;

  /** Null if only some leaves are wanted, or the document is far too large. */
  private ExplodedBody.Builder body;

  private final List<Leaf> chosen = new ArrayList<>(0);
  private long jsonBytes;
  private final LeafEncoder encoder = new LeafEncoder();
  private final TupleWriter path = new TupleWriter(128);
  private final List<Container> containers = new ArrayList<>();
  private int depth;
  private Container top;

  /** A container being read. Reused for the next one of the same depth. */
  private static final class Container {
    private boolean array;
    private int pathLength;
    private int children;

    private void open(boolean isArray, int itsPathLength) {
      array = isArray;
      pathLength = itsPathLength;
      children = 0;
    }
  }

  /** Which leaves of a document are wanted. All others are passed over without being kept. */
  public interface Choice {
    /**
     * Whether a value may be such a leaf, or have some below it. It is asked of each value but
     * those inside of values that are passed over, in the order of the text.
     *
     * @param path from 0 on
     */
    boolean leadsTo(byte[] path, int pathEnd);

    /** Whether a leaf is wanted; {@link #leadsTo} was true for its path. */
    boolean keeps(byte[] path, int pathEnd);
  }

  /**
   * Returns some leaves of an object that was accepted before, each of whose members is there once,
   * in the order of their paths.
   */
  public static List<Leaf> chosen(JsonInput object, Choice choice) {
    object.next();
    JsonLimits limits = JsonLimits.couchDb().withDocumentBytes(Integer.MAX_VALUE);
    JsonExploder exploder = new JsonExploder(object, limits, choice);
    while (object.next() == JsonToken.FIELD_NAME) {
      exploder.member(object.rawName());
    }
    object.expectEnd();
    exploder.chosen.sort(Leaf.BY_PATH);
    return exploder.chosen;
  }

  /** Reads from {@code input}, which the caller has moved into the document's object. */
  public JsonExploder(JsonInput input, JsonLimits limits) {
    this(input, limits, ChosenPaths.ALL);
    body = new ExplodedBody.Builder();
  }

  private JsonExploder(JsonInput input, JsonLimits limits, Choice choice) {
    this.input = input;
    this.limits = limits;
    this.keptBytes = (long) limits.documentBytes() + SLACK_BYTES;
    this.longestPath = limits.longestKey();
    this.choice = choice;
    open(false);
  }

  /**
   * Explodes the member whose name is the input's current token. Afterwards the input stands on the
   * last token of its value.
   */
  public void member(String name) {
    int outer = depth;
    if (beginMember(name)) {
      do {
        take(input.next());
      } while (depth > outer);
    }
  }

  /** Returns all members so far. The exploder cannot be used afterwards. */
  public ExplodedBody finish() {
    if (isBuilt()) {
      jsonBytes -= body.closeObject();
    }
    // Each member has counted a comma; the surplus one stands for one of the two braces.
    long size = jsonBytes + (jsonBytes == 0 ? 2 : 1);
    if (size > limits.documentBytes()) {
      throw TooLarge.document(size, limits.documentBytes());
    }
    return body.finish((int) size);
  }

  /**
   * Of a document that is far too large only the size is still counted, so that the error can name
   * it.
   */
  private boolean isBuilt() {
    if (jsonBytes > keptBytes) {
      body = null;
    }
    return body != null;
  }

  private void take(JsonToken token) {
    switch (token) {
      case FIELD_NAME -> beginMember(input.rawName());
      case START_OBJECT, START_ARRAY -> {
        if (beginValue()) {
          open(token == JsonToken.START_ARRAY);
        }
      }
      case END_OBJECT, END_ARRAY -> {
        close();
        endValue();
      }
      default -> {
        if (beginValue()) {
          if (isKept()) {
            checkCharacters(token);
            leaf(encoder.encode(input, token));
          }
          endValue();
        }
      }
    }
  }

  /** Returns false if the member was passed over. */
  private boolean beginMember(String name) {
    int from = path.length();
    try {
      path.string(name);
    } catch (IllegalArgumentException e) {
      throw input.invalid(JsonInput.UNPAIRED_SURROGATE);
    }
    if (isPassedOver()) {
      top.children++;
      input.next();
      passOver();
      return false;
    }
    checkPath();
    byte[] bytes = path.array();
    int to = path.length();
    if (isBuilt()) {
      body.name(bytes, from, to, jsonBytes);
    }
    jsonBytes += JsonBuffer.quotedSize(bytes, from + 1, to - 1) + 1;
    return true;
  }

  /** Returns false if the value was passed over. */
  private boolean beginValue() {
    int number = top.children++;
    if (!top.array) {
      return true;
    }
    path.integer(number);
    if (isPassedOver()) {
      passOver();
      return false;
    }
    checkPath();
    return true;
  }

  private boolean isPassedOver() {
    return choice != ChosenPaths.ALL && !choice.leadsTo(path.array(), path.length());
  }

  private boolean isKept() {
    return choice == ChosenPaths.ALL || choice.keeps(path.array(), path.length());
  }

  private void passOver() {
    input.skip();
    path.truncate(top.pathLength);
  }

  private void endValue() {
    jsonBytes++;
    path.truncate(top.pathLength);
  }

  private void leaf(int bytes) {
    TupleWriter value = encoder.value();
    int length = value.length();
    if (length > limits.stringBytes()) {
      throw TooLarge.value(pathText(), length, limits.stringBytes());
    }
    if (StringParts.areNeeded(length)) {
      limits.checkPath(path.array(), path.length(), length);
    }
    jsonBytes += bytes;
    if (choice != ChosenPaths.ALL) {
      chosen.add(new Leaf(path.toBytes(), value.toBytes()));
    } else if (isBuilt()) {
      body.leaf(path.length(), value.array(), length);
    }
  }

  /** A string longer than the document's limit is not even copied. */
  private void checkCharacters(JsonToken token) {
    if (token == JsonToken.VALUE_STRING && input.textLength() > limits.documentBytes()) {
      throw TooLarge.string(pathText(), input.textLength(), limits.documentBytes());
    }
  }

  private void open(boolean array) {
    if (depth == containers.size()) {
      containers.add(new Container());
    }
    top = containers.get(depth++);
    top.open(array, path.length());
    if (depth > 1 && isBuilt()) {
      body.begin(array);
    }
  }

  private void close() {
    if (top.children > 0) {
      if (isBuilt()) {
        jsonBytes -= body.end(top.array);
      }
      // Two brackets, less the comma that the last child has counted.
      jsonBytes++;
    } else {
      if (isBuilt()) {
        body.cancel(top.array);
      }
      if (isKept()) {
        leaf(encoder.encodeEmpty(top.array));
      }
    }
    depth--;
    top = containers.get(depth - 1);
  }

  private void checkPath() {
    if (path.length() > longestPath) {
      limits.checkPath(path.array(), path.length(), 0);
    }
  }

  private String pathText() {
    return PathText.of(path.array(), path.length());
  }

  /**
   * Encodes the scalar at a parser as a leaf's value, RFC 004 "Value Encoding". Numbers without
   * fraction and exponent become integers, others the nearest double ({@code 1e-400} and {@code
   * -0.0} become 0.0).
   */
  private static final class LeafEncoder {
    /**
     * The tuple layer's largest integer has 255 bytes, which are 615 digits; with a sign 616
     * characters.
     */
    private static final int LONGEST_INTEGER = 616;

    private static final int LARGEST_MAGNITUDE_BITS = 255 * 8;

    private final TupleWriter value = new TupleWriter(128);
    private final JsonBuffer number = new JsonBuffer(64);

    /** Encodes the scalar and returns its length as JSON, in bytes. */
    int encode(JsonInput input, JsonToken token) {
      value.truncate(0);
      return switch (token) {
        case VALUE_STRING -> string(input);
        case VALUE_NUMBER_INT -> integer(input);
        case VALUE_NUMBER_FLOAT -> real(input);
        case VALUE_TRUE -> {
          value.bool(true);
          yield "true".length();
        }
        case VALUE_FALSE -> {
          value.bool(false);
          yield "false".length();
        }
        case VALUE_NULL -> {
          value.nil();
          yield "null".length();
        }
        default -> throw input.invalid("unexpected " + token);
      };
    }

    /** Encodes the marker of an empty container and returns its length as JSON, in bytes. */
    int encodeEmpty(boolean array) {
      value.truncate(0).octet(array ? LeafMarkers.EMPTY_ARRAY : LeafMarkers.EMPTY_OBJECT);
      return 2;
    }

    /** Returns the encoded value, valid until the next one. */
    TupleWriter value() {
      return value;
    }

    private int string(JsonInput input) {
      JsonParser parser = input.parser();
      try {
        value.string(parser.getTextCharacters(), parser.getTextOffset(), parser.getTextLength());
      } catch (IOException e) {
        throw input.failure(e);
      } catch (IllegalArgumentException e) {
        throw input.invalid(JsonInput.UNPAIRED_SURROGATE);
      }
      return JsonBuffer.quotedSize(value.array(), 1, value.length() - 1);
    }

    private int integer(JsonInput input) {
      JsonParser parser = input.parser();
      try {
        int digits = parser.getTextLength();
        if (digits > LONGEST_INTEGER) {
          throw tooLong(input);
        }
        if (parser.getNumberType() == JsonParser.NumberType.BIG_INTEGER) {
          return bigInteger(input, new BigInteger(parser.getText()), digits);
        }
        long number = parser.getLongValue();
        value.integer(number);
        return number == 0 ? 1 : digits;
      } catch (IOException e) {
        throw input.failure(e);
      }
    }

    private int bigInteger(JsonInput input, BigInteger number, int digits) {
      if (number.abs().bitLength() > LARGEST_MAGNITUDE_BITS) {
        throw tooLong(input);
      }
      value.integer(number);
      return digits;
    }

    private int real(JsonInput input) {
      try {
        double real = input.parser().getDoubleValue();
        if (Double.isInfinite(real)) {
          throw input.invalid("a number out of the range of a double");
        }
        // CouchDB, too, stores -0.0 as 0.0.
        double kept = real + 0.0;
        value.real(kept);
        return number.truncate(0).number(kept).length();
      } catch (IOException e) {
        throw input.failure(e);
      }
    }

    private static LectusException tooLong(JsonInput input) {
      return input.invalid("an integer of more than 255 bytes");
    }
  }
}
