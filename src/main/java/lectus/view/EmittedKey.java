package lectus.view;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import lectus.derived.SortKey;
import lectus.error.LectusException;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonArray;
import lectus.json.JsonValue.JsonBool;
import lectus.json.JsonValue.JsonNumber;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;
import lectus.json.TupleType;
import lectus.json.TupleWriter;

/**
 * Keys that maps emit, as bytes that sort as CouchDB sorts views. As {@link SortKey}, but never
 * cut, and with the members of objects in the order in which they were emitted. With the collation
 * {@code raw} it is Erlang's order: numbers, false, null, true, objects, arrays, strings by their
 * bytes.
 *
 * <pre>
 *            null, false, true   number  string           array  object
 * usual      1, 2, 3             4       5 ‖ ICU ‖ 0      6 … 0  7 … 0
 * raw        13, 12, 14          11      17 ‖ bytes ‖ 0   16 … 0 15 … 0
 * </pre>
 *
 * A NUL within bytes is 0, 255.
 */
final class EmittedKey {
  /** Bytes of a key within a tuple, where a zero takes two. */
  static final int MAX_BYTES = 8_000;

  private static final int END = 0;
  private static final int ESCAPE = 0xff;
  private static final int NUMBER_BYTES = 9;

  private EmittedKey() {}

  /** Codes of the types, which never change. */
  private record Codes(
      int nil, int no, int yes, int number, int string, int array, int object, boolean isRaw) {
    static final Codes USUAL = new Codes(1, 2, 3, 4, 5, 6, 7, false);
    static final Codes RAW = new Codes(13, 12, 14, 11, 17, 16, 15, true);
  }

  /**
   * @param raw whether to sort by Erlang's order
   */
  static byte[] of(JsonValue key, boolean raw) {
    TupleWriter out = new TupleWriter(64);
    append(key, raw ? Codes.RAW : Codes.USUAL, out);
    return out.toBytes();
  }

  /**
   * As above, of a key that a client asks for.
   *
   * @throws LectusException {@code query_parse_error}: no row can have a key that is so long
   */
  static byte[] asked(JsonValue key, boolean raw) {
    byte[] bytes = of(key, raw);
    if (isTooLong(bytes)) {
      throw LectusException.badRequest(
          "query_parse_error", "A key takes more than " + MAX_BYTES + " bytes.");
    }
    return bytes;
  }

  static boolean isTooLong(byte[] sortKey) {
    int taken = sortKey.length;
    for (byte b : sortKey) {
      taken += b == 0 ? 1 : 0;
    }
    return taken > MAX_BYTES;
  }

  private static void append(JsonValue value, Codes codes, TupleWriter out) {
    if (value instanceof JsonBool bool) {
      out.octet(bool.value() ? codes.yes : codes.no);
    } else if (value instanceof JsonNumber number) {
      out.octet(codes.number);
      String text = number.text();
      boolean isInteger = text.chars().noneMatch(c -> c == '.' || c == 'e' || c == 'E');
      SortKey.appendNumber(
          Double.parseDouble(text),
          isInteger ? Optional.of(new BigInteger(text)) : Optional.empty(),
          out);
    } else if (value instanceof JsonString string) {
      appendString(string.value(), codes, out);
    } else if (value instanceof JsonArray array) {
      out.octet(codes.array);
      array.elements().forEach(element -> append(element, codes, out));
      out.octet(END);
    } else if (value instanceof JsonObject object) {
      out.octet(codes.object);
      for (Map.Entry<String, JsonValue> member : object.members().entrySet()) {
        appendString(member.getKey(), codes, out);
        append(member.getValue(), codes, out);
      }
      out.octet(END);
    } else {
      out.octet(codes.nil);
    }
  }

  private static void appendString(String text, Codes codes, TupleWriter out) {
    out.octet(codes.string);
    if (!codes.isRaw) {
      SortKey.appendString(text, out);
      return;
    }
    for (byte b : text.getBytes(StandardCharsets.UTF_8)) {
      out.octet(b);
      if (b == 0) {
        out.octet(ESCAPE);
      }
    }
    out.octet(END);
  }

  /**
   * Returns where the part of a key ends that its group has: of an array the first elements, of any
   * other value all of it. An array with fewer elements is a group of its own.
   *
   * @param level number of elements
   */
  static int groupEnd(byte[] sortKey, long level) {
    if (sortKey[0] != Codes.USUAL.array && sortKey[0] != Codes.RAW.array) {
      return sortKey.length;
    }
    int at = 1;
    for (long taken = 0; taken < level && sortKey[at] != END; taken++) {
      at = skip(sortKey, at);
    }
    return at;
  }

  private static int skip(byte[] key, int at) {
    int code = key[at];
    if (code == Codes.USUAL.number || code == Codes.RAW.number) {
      return skipNumber(key, at + NUMBER_BYTES);
    }
    if (code == Codes.USUAL.string || code == Codes.RAW.string) {
      return skipString(key, at + 1);
    }
    boolean isContainer =
        code == Codes.USUAL.array
            || code == Codes.RAW.array
            || code == Codes.USUAL.object
            || code == Codes.RAW.object;
    int end = at + 1;
    while (isContainer && key[end] != END) {
      end = skip(key, end);
    }
    return isContainer ? end + 1 : end;
  }

  /** Skips the rest of an integer, as the tuple encoding has it. */
  private static int skipNumber(byte[] key, int at) {
    int code = key[at];
    if (code == TupleType.POSITIVE_BIG_INTEGER) {
      return at + 2 + (key[at + 1] & ESCAPE);
    }
    if (code == TupleType.NEGATIVE_BIG_INTEGER) {
      return at + 2 + ((key[at + 1] & ESCAPE) ^ ESCAPE);
    }
    return at + 1 + Math.abs(code - TupleType.INTEGER_ZERO);
  }

  private static int skipString(byte[] key, int from) {
    int at = from;
    while (key[at] != END || (at + 1 < key.length && key[at + 1] == (byte) ESCAPE)) {
      at += key[at] == END ? 2 : 1;
    }
    return at + 1;
  }
}
