package lectus.derived;

import com.fasterxml.jackson.core.JsonToken;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import lectus.json.ExplodedBody;
import lectus.json.JsonExploder;
import lectus.json.JsonInput;
import lectus.json.JsonLimits;
import lectus.json.JsonValue;
import lectus.json.LeafList;
import lectus.json.LeafView;

/** Documents as leaves of the store, from JSON in single quotes. */
final class Documents {
  private Documents() {}

  static JsonValue json(String text) {
    return JsonValue.parse(text.replace('\'', '"').getBytes(StandardCharsets.UTF_8));
  }

  static Selector selector(String text) {
    return Selector.compile(json(text));
  }

  static ExplodedBody explode(String text) {
    try (JsonInput input = JsonInput.of(text.replace('\'', '"').getBytes(StandardCharsets.UTF_8))) {
      input.next();
      JsonExploder exploder = new JsonExploder(input, JsonLimits.couchDb());
      while (input.next() == JsonToken.FIELD_NAME) {
        exploder.member(input.name());
      }
      return exploder.finish();
    }
  }

  /** Whether the selector matches the document, whichever parts of it are read. */
  static boolean matches(String selector, String document) {
    return matches(selector(selector), document);
  }

  static boolean matches(Selector selector, String document) {
    ExplodedBody body = explode(document);
    boolean whole = selector.matches(LeafList.of(body).root(), "d");
    boolean narrow = selector.matches(narrowed(selector.reads(), body), "d");
    if (whole != narrow) {
      throw new AssertionError(
          "The whole document says " + whole + ", what is read of it " + narrow);
    }
    return whole;
  }

  /** Returns the rows that are read of a document, the last ones first. */
  static LeafView narrowed(List<LeafRead> reads, ExplodedBody body) {
    List<Row> rows = new ArrayList<>();
    body.forEachRow((path, value) -> rows.add(new Row(path, value)));
    LeafList leaves = new LeafList(0);
    for (int i = reads.size() - 1; i >= 0; i--) {
      byte[] path = reads.get(i).path();
      List<Row> below = rows.stream().filter(row -> isAtOrBelow(path, row.path)).toList();
      List<Row> first = below.subList(0, Math.min(1, below.size()));
      List<Row> leaf = below.stream().filter(row -> isOfLeaf(path, row.path)).toList();
      List<Row> taken =
          switch (reads.get(i).extent()) {
            case LEAF -> leaf;
            case TYPE -> first;
            case FIRST -> leaf.isEmpty() ? first : leaf;
            case ALL -> below;
          };
      taken.forEach(row -> leaves.add(row.path, row.value));
    }
    return leaves.root();
  }

  private record Row(byte[] path, byte[] value) {}

  /** Whether a row is the leaf at the path, or a further row of a leaf that has several. */
  private static boolean isOfLeaf(byte[] path, byte[] row) {
    return isAtOrBelow(path, row) && (row.length == path.length || row[path.length] == 0x42);
  }

  private static boolean isAtOrBelow(byte[] prefix, byte[] path) {
    return path.length >= prefix.length
        && Arrays.equals(prefix, 0, prefix.length, path, 0, prefix.length)
        && (path.length == prefix.length || path[prefix.length] != (byte) 0xff);
  }
}
