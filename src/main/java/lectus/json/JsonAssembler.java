package lectus.json;

import java.util.Arrays;
import lectus.json.Leaf.LeafMarkers;

/**
 * Writes the members of a document's body from its leaves, in the order in which they were sent or
 * that of their paths; the reverse of {@link JsonExploder}. The leaves may be any subset of a
 * body's: an array then has only the elements that have leaves, or is an object of them (see {@link
 * Form}).
 *
 * <p>Each path is compared with the previous one: their common containers stay open, others are
 * closed and opened. A key passed in must stay unchanged until the next one.
 */
public final class JsonAssembler {
  /** Follows a NUL that belongs to a string; no element's type code. */
  private static final byte ESCAPED_NUL = (byte) 0xff;

  private static final byte[] NO_KEY = {};

  private final JsonBuffer out;
  private final ChosenPaths chosen;
  private boolean comma;
  private byte[] previous = NO_KEY;
  private int previousOffset;
  private int previousEnd;

  /** For each open container below the root: where its path ends, and its form. */
  private int[] ends = new int[8];

  private Form[] forms = new Form[8];
  private int open;
  private boolean isText;

  /** The string that still lacks pieces, or null. */
  private StringParts.Reading string;

  /**
   * Writes members into an object that the caller has opened.
   *
   * @param comma whether the object has members already
   */
  public JsonAssembler(JsonBuffer out, boolean comma) {
    this(out, comma, ChosenPaths.ALL);
  }

  /** Writes members of which only some were chosen. */
  public JsonAssembler(JsonBuffer out, boolean comma, ChosenPaths chosen) {
    this.out = out;
    this.comma = comma;
    this.chosen = chosen;
  }

  /** How containers are written. An array of which single elements are chosen is numbered. */
  private enum Form {
    OBJECT('{', '}'),
    ARRAY('[', ']'),
    NUMBERED('{', '}');

    private final char begin;
    private final char end;

    Form(char begin, char end) {
      this.begin = begin;
      this.end = end;
    }
  }

  /**
   * Writes one leaf, or one row of a leaf that has several.
   *
   * @param key the leaf's key or path
   * @param pathOffset offset in it at which the path begins
   * @param value the leaf's value
   * @throws MalformedTupleException if the bytes are not a leaf's, or cannot follow the previous
   *     ones
   */
  public void leaf(byte[] key, int pathOffset, byte[] value) {
    if (string != null) {
      piece(key, value);
      return;
    }
    follow(key, pathOffset, key.length);
    if (StringParts.areBegunBy(value)) {
      begin(key, value);
    } else {
      LeafText.append(value, 0, value.length, out);
    }
  }

  /**
   * Writes one leaf of several that share an array ({@link PackedLeaves}).
   *
   * @throws MalformedTupleException as above
   */
  public void leaf(byte[] packed, int path, int pathEnd, int value, int valueEnd) {
    if (string != null) {
      throw string.lacking();
    }
    follow(packed, path, pathEnd);
    LeafText.append(packed, value, valueEnd, out);
  }

  /**
   * Writes members as they stand in JSON, or a part of them; other parts may follow, but no leaf.
   */
  public void text(byte[] json) {
    if (comma && !isText) {
      out.octet(',');
    }
    isText = true;
    comma = true;
    out.raw(json);
  }

  /** Writes what precedes the value of the leaf at this path. */
  private void follow(byte[] key, int path, int pathEnd) {
    closeUnshared(key, path, pathEnd);
    int at = open == 0 ? path : path + ends[open - 1];
    if (at >= pathEnd) {
      throw new MalformedTupleException("A leaf has other leaves below it");
    }
    at = element(key, at, pathEnd);
    while (at < pathEnd) {
      open(key, path, pathEnd, at);
      at = element(key, at, pathEnd);
    }
    comma = true;
    previous = key;
    previousOffset = path;
    previousEnd = pathEnd;
  }

  /**
   * Closes all open containers, but not the object that the caller has opened.
   *
   * @throws MalformedTupleException if the last leaf lacks some of its rows
   */
  public void finish() {
    if (string != null) {
      throw string.lacking();
    }
    while (open > 0) {
      close();
    }
    previous = NO_KEY;
    previousOffset = 0;
    previousEnd = 0;
  }

  /** Whether the next member of the caller's object needs a comma. */
  public boolean needsComma() {
    return comma;
  }

  private void begin(byte[] key, byte[] value) {
    string = new StringParts.Reading(key, value);
    out.octet('"').tupleText(value, string.textFrom(), value.length);
    endIfComplete();
  }

  private void piece(byte[] key, byte[] value) {
    StringParts.Reading reading = string;
    // After an incomplete string, reading continues with the next leaf.
    string = null;
    reading.take(key, value);
    string = reading;
    out.tupleText(value, 0, value.length);
    endIfComplete();
  }

  private void endIfComplete() {
    if (string.isComplete()) {
      out.octet('"');
      string = null;
    }
  }

  private void closeUnshared(byte[] key, int path, int pathEnd) {
    int shared = Arrays.mismatch(previous, previousOffset, previousEnd, key, path, pathEnd);
    int previousLength = previousEnd - previousOffset;
    if (previousLength > 0
        && (shared < 0 || isShared(previousLength, shared, key, path, pathEnd))) {
      throw new MalformedTupleException("A leaf has other leaves below it");
    }
    while (open > 0 && !isShared(ends[open - 1], shared, key, path, pathEnd)) {
      close();
    }
  }

  private static boolean isShared(int end, int shared, byte[] key, int path, int pathEnd) {
    return end <= shared && (path + end >= pathEnd || key[path + end] != ESCAPED_NUL);
  }

  /**
   * Writes what precedes the value of the path's element at {@code at}; returns where the element
   * ends.
   */
  private int element(byte[] key, int at, int pathEnd) {
    Form form = open == 0 ? Form.OBJECT : forms[open - 1];
    boolean isIndex = key[at] != TupleType.STRING;
    if (isIndex == (form == Form.OBJECT)) {
      throw new MalformedTupleException("A path mixes members and array positions at " + at);
    }
    if (comma) {
      out.octet(',');
    }
    comma = false;
    if (isIndex) {
      return index(key, at, pathEnd, form);
    }
    int end = out.tupleString(key, at + 1, pathEnd);
    out.octet(':');
    return end;
  }

  private int index(byte[] key, int at, int pathEnd, Form form) {
    int end = at + 1 + key[at] - TupleType.INTEGER_ZERO;
    if (end <= at || end > Math.min(pathEnd, at + 5)) {
      throw new MalformedTupleException("No array position at " + at);
    }
    if (form == Form.NUMBERED) {
      long position = 0;
      for (int i = at + 1; i < end; i++) {
        position = position << Byte.SIZE | Byte.toUnsignedInt(key[i]);
      }
      out.octet('"').number(position).ascii("\":");
    }
    return end;
  }

  /**
   * @param at where the path of the container ends
   */
  private void open(byte[] key, int path, int pathEnd, int at) {
    if (open == ends.length) {
      ends = Arrays.copyOf(ends, 2 * open);
      forms = Arrays.copyOf(forms, 2 * open);
    }
    ends[open] = at - path;
    forms[open] = form(key, path, pathEnd, at);
    out.octet(forms[open].begin);
    open++;
  }

  private Form form(byte[] key, int path, int pathEnd, int at) {
    if (key[at] == TupleType.STRING) {
      return Form.OBJECT;
    }
    return chosen.lengthAbove(key, path, pathEnd) > at - path ? Form.NUMBERED : Form.ARRAY;
  }

  private void close() {
    open--;
    out.octet(forms[open].end);
    comma = true;
  }

  /** Writes leaf values as JSON; the reverse of {@link JsonExploder.LeafEncoder}. */
  static final class LeafText {
    private LeafText() {}

    /**
     * Writes one leaf's value.
     *
     * @throws MalformedTupleException if the bytes are not a leaf's value
     */
    static void append(byte[] bytes, int value, int valueEnd, JsonBuffer out) {
      if (value == valueEnd) {
        throw new MalformedTupleException("A leaf without a value");
      }
      int end = value + 1;
      switch (bytes[value]) {
        case TupleType.STRING -> end = out.tupleString(bytes, value + 1, valueEnd);
        case TupleType.TRUE -> out.bool(true);
        case TupleType.FALSE -> out.bool(false);
        case TupleType.NIL -> out.nil();
        case LeafMarkers.EMPTY_ARRAY -> out.octet('[').octet(']');
        case LeafMarkers.EMPTY_OBJECT -> out.octet('{').octet('}');
        default -> end = number(bytes, value, valueEnd, out);
      }
      if (end != valueEnd) {
        throw new MalformedTupleException(
            "A leaf's value ends at " + (end - value) + ", not at its last byte");
      }
    }

    private static int number(byte[] bytes, int value, int valueEnd, JsonBuffer out) {
      TupleReader reader = new TupleReader(bytes, value, valueEnd);
      if (reader.isReal()) {
        out.number(reader.real());
      } else if (reader.isBigInteger()) {
        out.number(reader.bigInteger());
      } else {
        out.number(reader.integer());
      }
      return reader.position();
    }
  }
}
