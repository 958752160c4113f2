package lectus.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.apple.foundationdb.tuple.Tuple;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import lectus.error.LectusException;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Leaves of some paths are read out of a text without the others. */
final class ChosenPathsTest {
  @Property
  void some_leaves_of_a_text_are_those_at_and_below_some_paths(
      @ForAll("objects") Map<String, Object> object, @ForAll Random random) {
    String text = JsonModel.write(object, random);
    List<Leaf> all = Bodies.explode(text).leaves();
    List<byte[]> some = new ArrayList<>();
    for (int i = random.nextInt(5); i > 0 && !all.isEmpty(); i--) {
      some.add(path(all.get(random.nextInt(all.size())).path(), random));
    }
    List<Leaf> expected =
        all.stream()
            .filter(leaf -> some.stream().anyMatch(it -> TupleReader.isAtOrBelow(it, leaf.path())))
            .toList();

    assertThat(texts(leaves(text, ChosenPaths.of(some)))).isEqualTo(texts(expected));
  }

  /** Returns a path at, above or below a leaf, or beside it. */
  private static byte[] path(byte[] leaf, Random random) {
    TupleWriter changed = new TupleWriter(leaf);
    return switch (random.nextInt(4)) {
      case 0 -> leaf;
      case 1 -> changed.integer(0).toBytes();
      case 2 -> changed.octet(0xff).octet(0).toBytes();
      default -> above(leaf, random);
    };
  }

  private static byte[] above(byte[] leaf, Random random) {
    TupleReader reader = new TupleReader(leaf, 0);
    int end = 0;
    do {
      if (leaf[reader.position()] == TupleType.STRING) {
        reader.string();
      } else {
        reader.smallInteger();
      }
      end = reader.position();
    } while (reader.hasNext() && random.nextBoolean());
    return Arrays.copyOf(leaf, end);
  }

  @Test
  void an_empty_container_is_a_leaf() {
    String text = "{\"a\":{\"c\":[{}],\"d\":{}},\"a.b\":2,\"ab\":3}";
    assertThat(written(text, "a.b")).isEqualTo("{}");
    assertThat(written(text, "a.c")).isEqualTo("{\"a\":{\"c\":[{}]}}");
    assertThat(written(text, "a.c.0", "a.d")).isEqualTo("{\"a\":{\"c\":[{}],\"d\":{}}}");
    assertThat(written(text, "a.c.1", "a.d.e", "ab.c")).isEqualTo("{}");
    assertThat(written(text, "a\\.b", "a.d")).isEqualTo("{\"a\":{\"d\":{}},\"a.b\":2}");
  }

  @Test
  void what_is_not_chosen_is_passed_over_without_being_looked_at() {
    String text = "{\"a\":[" + "0,".repeat(100_000) + "0],\"b\":{\"a\":[1,2]},\"x\":1}";
    ChosenPaths chosen =
        ChosenPaths.ofFields(List.of(FieldPath.parse("x"), FieldPath.parse("b.c")));
    List<Integer> looks = new ArrayList<>();
    JsonExploder.Choice counted =
        new JsonExploder.Choice() {
          @Override
          public boolean leadsTo(byte[] path, int pathEnd) {
            looks.add(pathEnd);
            return chosen.leadsTo(path, pathEnd);
          }

          @Override
          public boolean keeps(byte[] path, int pathEnd) {
            return chosen.keeps(path, pathEnd);
          }
        };

    assertThat(Bodies.assemble(leaves(text, counted)).toString()).isEqualTo("{\"x\":1}");
    assertThat(looks).as("a, b, b.a and x").hasSize(4);
  }

  private static String written(String text, String... fields) {
    ChosenPaths chosen = ChosenPaths.ofFields(Arrays.stream(fields).map(FieldPath::parse).toList());
    return Bodies.assemble(leaves(text, chosen)).toString();
  }

  private static List<Leaf> leaves(String text, JsonExploder.Choice choice) {
    try (JsonInput input = JsonInput.of(text.getBytes(StandardCharsets.UTF_8))) {
      return JsonExploder.chosen(input, choice);
    }
  }

  private static List<String> texts(List<Leaf> leaves) {
    return leaves.stream()
        .map(it -> Arrays.toString(it.path()) + Arrays.toString(it.value()))
        .toList();
  }

  @Provide
  Arbitrary<Map<String, Object>> objects() {
    return JsonModel.objects();
  }

  @Test
  void dots_separate_and_backslashes_escape() {
    assertThat(FieldPath.parse("a").names()).containsExactly("a");
    assertThat(FieldPath.parse("a.b\\.c.d").names()).containsExactly("a", "b.c", "d");
    assertThat(FieldPath.parse("a\\\\.b").names()).containsExactly("a\\", "b");
    assertThat(FieldPath.parse("\\.").names()).containsExactly(".");
    assertThat(FieldPath.parse("ü\0.\ud83d\ude00").names()).containsExactly("ü\0", "\ud83d\ude00");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ".", "a.", ".a", "a..b", "a\\", "\ud800", "0.1.2.3.4.5.6.7"})
  void other_texts_are_no_fields(String field) {
    assertThatThrownBy(() -> FieldPath.parse(field))
        .isInstanceOf(LectusException.class)
        .hasMessage("invalid_field_name: Invalid field name: " + field);
  }

  @Test
  void digits_are_members_and_positions() {
    assertThat(FieldPath.parse("a.b").prefixes()).containsExactly(Tuple.from("a", "b").pack());
    assertThat(FieldPath.parse("a.10.b").prefixes())
        .containsExactly(Tuple.from("a", "10", "b").pack(), Tuple.from("a", 10, "b").pack());
    assertThat(FieldPath.parse("0.1").prefixes())
        .containsExactlyInAnyOrder(Tuple.from("0", "1").pack(), Tuple.from("0", 1).pack());
    assertThat(FieldPath.parse("a.01").prefixes()).containsExactly(Tuple.from("a", "01").pack());
    assertThat(FieldPath.parse("a.1234567890").prefixes()).hasSize(1);
    assertThat(FieldPath.parse("a.0.1.2.3.4.5").prefixes()).hasSize(64);
  }

  @Test
  void a_prefix_selects_the_fields_leaves_and_no_others() {
    String json =
        "{\"a\":{\"b\":{\"c\":1,\"d\":[2,3]},\"b\\u0000\":4,\"bb\":5},\"a\\u0000\":6,\"b\":7}";
    assertThat(select(json, "a.b")).isEqualTo("{\"a\":{\"b\":{\"c\":1,\"d\":[2,3]}}}");
    assertThat(select(json, "a.b.d.1")).isEqualTo("{\"a\":{\"b\":{\"d\":[3]}}}");
    assertThat(select(json, "b")).isEqualTo("{\"b\":7}");
    assertThat(select(json, "a.b\0")).isEqualTo("{\"a\":{\"b\\u0000\":4}}");
    assertThat(select(json, "c")).isEqualTo("{}");
    assertThat(select("{\"a\":{\"0\":[8]},\"0\":9}", "a.0.0")).isEqualTo("{\"a\":{\"0\":[8]}}");
    assertThat(select("{\"a\":{\"0\":[8]},\"0\":9}", "0")).isEqualTo("{\"0\":9}");
  }

  private static String select(String json, String field) {
    List<byte[]> prefixes = FieldPath.parse(field).prefixes();
    return Bodies.assemble(
            Bodies.explode(json).leaves().stream()
                .filter(leaf -> prefixes.stream().anyMatch(prefix -> inRange(prefix, leaf.path())))
                .toList())
        .toString();
  }

  private static boolean inRange(byte[] prefix, byte[] path) {
    byte[] end = Arrays.copyOf(prefix, prefix.length + 1);
    end[prefix.length] = (byte) 0xff;
    return Arrays.compareUnsigned(prefix, path) <= 0 && Arrays.compareUnsigned(path, end) < 0;
  }
}
