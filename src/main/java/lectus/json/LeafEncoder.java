package lectus.json;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.math.BigInteger;
import lectus.error.LectusException;
import lectus.tuple.TupleWriter;

/**
 * Encodes the scalar at a parser as a leaf's value, RFC 004 "Value Encoding". Numbers without
 * fraction and exponent become integers, others the nearest double ({@code 1e-400} and {@code -0.0}
 * become 0.0).
 */
final class LeafEncoder {
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
    return JsonEscapes.quotedSize(value.array(), 1, value.length() - 1);
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
