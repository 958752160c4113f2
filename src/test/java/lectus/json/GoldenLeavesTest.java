package lectus.json;

import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.KeyValue;
import java.util.ArrayList;
import java.util.List;
import lectus.store.testing.GoldenRows;
import org.junit.jupiter.api.Test;

/** The exact bytes of leaf values and of their paths. */
final class GoldenLeavesTest {
  private static List<KeyValue> rows(String json) {
    List<KeyValue> rows = new ArrayList<>();
    Bodies.explode(json).forEachRow((path, value) -> rows.add(new KeyValue(path, value)));
    return rows;
  }

  /** Returns the table's rows as JSON, in the order of the titles. */
  private static String json(GoldenRows golden, String... titles) {
    JsonBuffer out = new JsonBuffer(16).octet('{');
    JsonAssembler assembler = new JsonAssembler(out, false);
    for (String title : titles) {
      KeyValue row = golden.row(title);
      assembler.leaf(row.getKey(), 0, row.getValue());
    }
    assembler.finish();
    return out.octet('}').toString();
  }

  @Test
  void values_of_all_types() {
    String json =
        "{\"array\":[],\"big\":18446744073709551616,\"deep\":{\"er\":[true,{\"x\":false}]},"
            + "\"double\":-1.5,\"integer\":258,\"minus\":-1,\"null\":null,\"object\":{},"
            + "\"text\":\"\\u0000ü\",\"zero\":0}";
    GoldenRows golden = GoldenRows.of("LeafEncoder");

    golden.assertAre(rows(json));
    assertThat(
            json(
                golden,
                "an empty array",
                "an integer of nine bytes",
                "true, in an array in an object",
                "false, in an object in an array",
                "a double",
                "an integer of two bytes",
                "a negative integer",
                "null",
                "an empty object",
                "a string with a NUL",
                "zero"))
        .isEqualTo(json);
  }

  @Test
  void a_string_in_several_rows() {
    String json = "{\"s\":\"" + "a".repeat(99_995) + "b".repeat(100_000) + "\u00fc\"}";
    GoldenRows golden = GoldenRows.of("StringParts");

    golden.assertAre(rows(json));
    assertThat(json(golden, "the first piece", "the second piece", "the last piece"))
        .isEqualTo(json);
  }
}
