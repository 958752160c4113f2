package lectus.json;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Tuple;

/**
 * JSON values as plain Java ones (Map, List, String, BigInteger, Double, Boolean, null), generated,
 * written and read independently of the code under test.
 */
final class JsonModel {
  static final BigInteger LARGEST_INTEGER = BigInteger.TWO.pow(255 * 8).subtract(BigInteger.ONE);

  private static final JsonFactory READER =
      JsonFactory.builder()
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxNestingDepth(100_000)
                  .maxStringLength(Integer.MAX_VALUE)
                  .maxNameLength(Integer.MAX_VALUE)
                  .build())
          .build();

  private JsonModel() {}

  static Arbitrary<Map<String, Object>> objects() {
    return object(values(4));
  }

  static Arbitrary<String> strings() {
    return Arbitraries.frequencyOf(
            Tuple.of(8, Arbitraries.integers().between(0x20, 0x7f)),
            Tuple.of(2, Arbitraries.integers().between(0, 0x1f)),
            Tuple.of(1, Arbitraries.of(0, (int) '"', (int) '\\', (int) '/', 0x2028, 0xfffe)),
            Tuple.of(1, Arbitraries.integers().between(0x80, 0xd7ff)),
            Tuple.of(1, Arbitraries.integers().between(0xe000, 0x10ffff)))
        .list()
        .ofMaxSize(12)
        .map(JsonModel::text);
  }

  /** Names often collide: in one object, as prefixes of each other, as digits. */
  private static Arbitrary<String> names() {
    return Arbitraries.oneOf(
        Arbitraries.of("", "0", "1", "10", "a", "a\0", "a\0b", "ab", "\0", "é", "\ud83d\ude00"),
        strings());
  }

  private static Arbitrary<Object> values(int depth) {
    Arbitrary<Object> scalar = scalars();
    if (depth == 0) {
      return scalar;
    }
    Arbitrary<Object> deeper = Arbitraries.lazy(() -> values(depth - 1));
    return Arbitraries.frequencyOf(
        Tuple.of(5, scalar),
        Tuple.of(1, object(deeper).map(Object.class::cast)),
        Tuple.of(1, deeper.list().ofMaxSize(4).map(Object.class::cast)));
  }

  private static Arbitrary<Map<String, Object>> object(Arbitrary<Object> values) {
    return Arbitraries.maps(names(), values).ofMaxSize(6);
  }

  private static Arbitrary<Object> scalars() {
    return Arbitraries.oneOf(
        strings().map(Object.class::cast),
        Arbitraries.longs().map(BigInteger::valueOf).map(Object.class::cast),
        Arbitraries.bigIntegers()
            .between(LARGEST_INTEGER.negate(), LARGEST_INTEGER)
            .map(Object.class::cast),
        Arbitraries.longs()
            .map(Double::longBitsToDouble)
            .filter(Double::isFinite)
            .map(Object.class::cast),
        Arbitraries.doubles().map(Object.class::cast),
        Arbitraries.of(-0.0, 0.0, Double.MIN_VALUE, -1e-310, Double.MAX_VALUE, 1.0, 1e21, 1e-7)
            .map(Object.class::cast),
        Arbitraries.of(Boolean.TRUE, Boolean.FALSE).map(Object.class::cast),
        Arbitraries.just("").map(nothing -> (Object) null));
  }

  private static String text(List<Integer> codePoints) {
    StringBuilder text = new StringBuilder();
    codePoints.forEach(text::appendCodePoint);
    return text.toString();
  }

  /** Returns one of the many texts of a value, with random white space and escapes. */
  static String write(Object value, Random random) {
    StringBuilder text = new StringBuilder();
    write(value, random, text);
    return text.toString();
  }

  private static void write(Object value, Random random, StringBuilder text) {
    space(random, text);
    if (value instanceof Map<?, ?> map) {
      String separator = "{";
      for (Map.Entry<?, ?> member : map.entrySet()) {
        text.append(separator);
        write(member.getKey(), random, text);
        text.append(':');
        write(member.getValue(), random, text);
        separator = ",";
      }
      text.append(map.isEmpty() ? "{" : "").append('}');
    } else if (value instanceof List<?> list) {
      String separator = "[";
      for (Object element : list) {
        text.append(separator);
        write(element, random, text);
        separator = ",";
      }
      text.append(list.isEmpty() ? "[" : "").append(']');
    } else if (value instanceof String string) {
      quote(string, random, text);
    } else {
      text.append(value);
    }
    space(random, text);
  }

  private static void quote(String string, Random random, StringBuilder text) {
    text.append('"');
    string
        .codePoints()
        .forEach(
            c -> {
              if (c < 0x20 || c == '"' || c == '\\' || random.nextInt(8) == 0) {
                String format = random.nextBoolean() ? "\\u%04x" : "\\u%04X";
                for (char half : Character.toChars(c)) {
                  text.append(String.format(format, (int) half));
                }
              } else {
                text.appendCodePoint(c);
              }
            });
    text.append('"');
  }

  private static void space(Random random, StringBuilder text) {
    if (random.nextInt(4) == 0) {
      text.append(" \t\n\r".charAt(random.nextInt(4)));
    }
  }

  /** Reads with a different parser from {@link JsonInput}'s. */
  static Object read(byte[] utf8) {
    try (JsonParser parser = READER.createParser(utf8)) {
      parser.nextToken();
      Object value = read(parser);
      if (parser.nextToken() != null) {
        throw new IllegalArgumentException("More than one value");
      }
      return value;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns what is stored of a value: as in CouchDB, 0.0 for -0.0. */
  static Object kept(Object value) {
    if (value instanceof Map<?, ?> map) {
      Map<Object, Object> kept = new LinkedHashMap<>();
      map.forEach((name, member) -> kept.put(name, kept(member)));
      return kept;
    }
    if (value instanceof List<?> list) {
      List<Object> kept = new ArrayList<>();
      list.forEach(element -> kept.add(kept(element)));
      return kept;
    }
    return value instanceof Double number ? Double.valueOf(number + 0.0) : value;
  }

  private static Object read(JsonParser parser) throws IOException {
    return switch (parser.currentToken()) {
      case START_OBJECT -> {
        Map<String, Object> map = new LinkedHashMap<>();
        while (parser.nextToken() != JsonToken.END_OBJECT) {
          String name = parser.currentName();
          parser.nextToken();
          map.put(name, read(parser));
        }
        yield map;
      }
      case START_ARRAY -> {
        List<Object> list = new ArrayList<>();
        while (parser.nextToken() != JsonToken.END_ARRAY) {
          list.add(read(parser));
        }
        yield list;
      }
      case VALUE_STRING -> parser.getText();
      case VALUE_NUMBER_INT -> new BigInteger(parser.getText());
      case VALUE_NUMBER_FLOAT -> Double.valueOf(parser.getText());
      case VALUE_TRUE -> true;
      case VALUE_FALSE -> false;
      default -> null;
    };
  }
}
