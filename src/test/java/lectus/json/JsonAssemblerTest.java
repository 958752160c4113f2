package lectus.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class JsonAssemblerTest {
  private static final byte[] ONE = new TupleWriter(16).integer(1).toBytes();

  @Test
  void any_subset_of_the_leaves_is_written_without_padding() {
    List<Leaf> leaves = Bodies.explode("{\"a\":[0,{\"b\":1,\"c\":[2,3]},[4],5],\"d\":6}").leaves();
    assertThat(subset(leaves, 0, 3, 5, 6)).isEqualTo("{\"a\":[0,{\"c\":[3]},5],\"d\":6}");
    assertThat(subset(leaves, 4)).isEqualTo("{\"a\":[[4]]}");
    assertThat(subset(leaves, 2, 4)).isEqualTo("{\"a\":[{\"c\":[2]},[4]]}");
    assertThat(subset(leaves)).isEqualTo("{}");
  }

  @Property
  void every_subset_is_json(@ForAll("objects") Map<String, Object> object, @ForAll Random random) {
    List<Leaf> some = new ArrayList<>();
    for (Leaf leaf : Bodies.explode(JsonModel.write(object, random)).leaves()) {
      if (random.nextBoolean()) {
        some.add(leaf);
      }
    }
    byte[] json = Bodies.assemble(some).toBytes();
    assertThat(JsonModel.write(JsonModel.read(json), new Random(1))).isNotEmpty();
    assertThat(Bodies.explode(json, JsonLimits.couchDb()).leaves()).hasSameSizeAs(some);
  }

  @Property
  void keys_are_read_behind_their_prefix(
      @ForAll("objects") Map<String, Object> object, @ForAll byte[] prefix) {
    List<Leaf> leaves = Bodies.explode(JsonModel.write(object, new Random(1))).leaves();
    JsonBuffer out = new JsonBuffer(16).octet('{');
    JsonAssembler assembler = new JsonAssembler(out, false);
    for (Leaf leaf : leaves) {
      byte[] key = new TupleWriter(prefix).raw(leaf.path()).toBytes();
      assembler.leaf(key, prefix.length, leaf.value());
    }
    assembler.finish();
    assertThat(out.octet('}').toString()).isEqualTo(Bodies.assemble(leaves).toString());
  }

  @Test
  void members_go_between_those_of_the_caller() {
    JsonBuffer out = new JsonBuffer(16).ascii("{\"_id\":\"x\"");
    JsonAssembler assembler = new JsonAssembler(out, true);
    Bodies.explode("{\"a\":{\"b\":1}}")
        .leaves()
        .forEach(leaf -> assembler.leaf(leaf.path(), 0, leaf.value()));
    assembler.finish();
    assertThat(out.ascii(",\"_z\":1}").toString())
        .isEqualTo("{\"_id\":\"x\",\"a\":{\"b\":1},\"_z\":1}");
  }

  @Test
  void whether_a_comma_is_needed_is_told_at_any_time() {
    JsonAssembler fresh = new JsonAssembler(new JsonBuffer(16), false);
    fresh.finish();
    assertThat(fresh.needsComma()).isFalse();
    fresh.leaf(path("a"), 0, ONE);
    fresh.finish();
    assertThat(fresh.needsComma()).isTrue();
    assertThat(new JsonAssembler(new JsonBuffer(16), true).needsComma()).isTrue();
  }

  @Test
  void names_that_begin_like_others_do_not_share_their_containers() {
    String json = "{\"a\":{\"b\":1},\"a\\u0000\":{\"b\":2},\"a\\u0000b\":3,\"ab\":{\"b\":4}}";
    assertThat(Bodies.roundTrip(json)).isEqualTo(json);
    String nested = "{\"x\":{\"\":{\"\":1},\"\\u0000\":{\"\":2}}}";
    assertThat(Bodies.roundTrip(nested)).isEqualTo(nested);
  }

  @Test
  void damaged_paths_are_malformed() {
    assertMalformed(new byte[0], ONE);
    assertMalformed(new byte[] {2, 'a'}, ONE);
    assertMalformed(new byte[] {0x14}, ONE);
    assertMalformed(new byte[] {2, 'a', 0, 0x13, 0}, ONE);
    assertMalformed(new byte[] {2, 'a', 0, 0x16, 1}, ONE);
    assertMalformed(new byte[] {2, 'a', 0, 0x21}, ONE);
  }

  @Test
  void damaged_values_are_malformed() {
    assertMalformed(path("a"), new byte[0]);
    assertMalformed(path("a"), new byte[] {0x15});
    assertMalformed(path("a"), new byte[] {0x15, 1, 1});
    assertMalformed(path("a"), new byte[] {2, 'a'});
    assertMalformed(path("a"), new byte[] {2, 'a', 0, 'b'});
    assertMalformed(path("a"), new byte[] {0x21, 0, 0});
    assertMalformed(path("a"), new byte[] {0x42});
    assertMalformed(path("a"), new byte[] {0x27, 0x27});
  }

  @Test
  void leaves_that_cannot_stand_together_are_malformed() {
    JsonAssembler assembler = new JsonAssembler(new JsonBuffer(16), false);
    assembler.leaf(path("a", "b"), 0, ONE);
    assertThatThrownBy(() -> assembler.leaf(path("a"), 0, ONE))
        .isInstanceOf(MalformedTupleException.class);
    JsonAssembler mixed = new JsonAssembler(new JsonBuffer(16), false);
    mixed.leaf(path("a", "b"), 0, ONE);
    byte[] position = new TupleWriter(16).string("a").integer(0).toBytes();
    assertThatThrownBy(() -> mixed.leaf(position, 0, ONE))
        .isInstanceOf(MalformedTupleException.class);
  }

  @Provide
  Arbitrary<Map<String, Object>> objects() {
    return JsonModel.objects();
  }

  private static void assertMalformed(byte[] path, byte[] value) {
    JsonAssembler assembler = new JsonAssembler(new JsonBuffer(16), false);
    assertThatThrownBy(() -> assembler.leaf(path, 0, value))
        .as(new String(path, StandardCharsets.ISO_8859_1))
        .isInstanceOf(MalformedTupleException.class);
  }

  private static byte[] path(String... names) {
    TupleWriter path = new TupleWriter(16);
    for (String name : names) {
      path.string(name);
    }
    return path.toBytes();
  }

  private static String subset(List<Leaf> leaves, int... chosen) {
    List<Leaf> some = new ArrayList<>();
    for (int i : chosen) {
      some.add(leaves.get(i));
    }
    return Bodies.assemble(some).toString();
  }

  @Test
  void the_example_of_the_rfc() {
    List<Leaf> leaves = Bodies.explode("{\"foo\":{\"bar\":{\"baz\":123}}}").leaves();
    assertThat(leaves).hasSize(1);
    assertThat(leaves.get(0).path())
        .isEqualTo(new TupleWriter(16).string("foo").string("bar").string("baz").toBytes());
    assertThat(leaves.get(0).value()).isEqualTo(new TupleWriter(16).integer(123).toBytes());
  }

  @Test
  void empty_containers_are_markers() {
    List<Leaf> leaves = Bodies.explode("{\"a\":[],\"b\":{}}").leaves();
    assertThat(leaves.get(0).value()).containsExactly(0x40);
    assertThat(leaves.get(1).value()).containsExactly(0x41);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\'',
      value = {
        "{\"a\":1,\"a\":2}|{\"a\":2}",
        "{\"a\":{\"x\":1,\"y\":2},\"a\":{\"x\":3}}|{\"a\":{\"x\":3}}",
        "{\"a\":{\"x\":1},\"a\":[2]}|{\"a\":[2]}",
        "{\"a\":{\"x\":1},\"b\":1,\"a\":2}|{\"a\":2,\"b\":1}",
        "{\"a\":2,\"a\":{\"x\":1}}|{\"a\":{\"x\":1}}",
        "{\"a\":[1,2,3],\"a\":[4]}|{\"a\":[4]}",
        "{\"a\":[1],\"a\":[]}|{\"a\":[]}",
        "{\"a\":{\"x\":1},\"a\":{}}|{\"a\":{}}",
        "{\"a\":{},\"a\":{\"x\":1}}|{\"a\":{\"x\":1}}",
        "{\"o\":[{\"a\":1,\"b\":{\"c\":1},\"b\":2,\"a\":{\"c\":1,\"c\":3}}]}"
            + "|{\"o\":[{\"a\":{\"c\":3},\"b\":2}]}",
        "{\"o\":{\"a\":{\"b\":1,\"b\":2}},\"p\":1,\"o\":{\"q\":1}}|{\"o\":{\"q\":1},\"p\":1}",
        "{\"\":1,\"\":2}|{\"\":2}",
        "{\"a\":1,\"\\u0061\":2}|{\"a\":2}"
      })
  void of_duplicate_members_the_last_one_stands(String json, String expected) {
    assertThat(Bodies.roundTrip(json)).isEqualTo(expected);
    assertThat(Bodies.explode(json).jsonBytes()).isEqualTo(expected.length());
    assertThat(Bodies.explode(json).storedBytes())
        .isEqualTo(Bodies.explode(expected).storedBytes());
  }

  @Property
  void duplicates_of_whole_documents_leave_the_last(
      @ForAll("objects") Map<String, Object> first, @ForAll("objects") Map<String, Object> last) {
    Random random = new Random(1);
    String both = members(first, random) + "," + members(last, random);
    Map<String, Object> expected = new LinkedHashMap<>(first);
    expected.putAll(last);
    String json = "{" + both + ",\"n\":{" + both + "}}";
    expected.remove("n");
    expected.put("n", withFiller(first, last));
    assertThat(JsonModel.read(Bodies.assemble(Bodies.explode(json).leaves()).toBytes()))
        .isEqualTo(JsonModel.kept(withFiller(expected, Map.of())));
  }

  @ParameterizedTest
  @ValueSource(ints = {15, 16, 17, 18, 1000})
  void duplicates_are_found_in_objects_of_any_size(int count) {
    StringBuilder json = new StringBuilder("{");
    for (int round = 0; round < 2; round++) {
      for (int i = 0; i < count; i++) {
        json.append("\"m").append(i).append("\":").append(round).append(',');
      }
    }
    ExplodedBody body = Bodies.explode(json.append("\"end\":null}").toString());
    assertThat(body.leaves()).hasSize(count + 1);
    assertThat(Bodies.assemble(body.leaves()).toString()).doesNotContain(":0");
  }

  @ParameterizedTest
  @ValueSource(strings = {"[", "{\"a\":"})
  void five_thousand_brackets_are_no_trouble(String bracket) {
    int levels = bracket.equals("[") ? 5_000 : 3_000;
    String open = "{\"a\":" + bracket.repeat(levels);
    String json = open + "7" + (bracket.equals("[") ? "]" : "}").repeat(levels) + "}";
    assertThat(Bodies.roundTrip(json)).isEqualTo(json);
    Bodies.assertBadRequest(() -> Bodies.explode(open))
        .isEqualTo(
            "Invalid JSON at line 1, column "
                + (open.length() + 1)
                + ": unexpected end of the input");
    Bodies.assertBadRequest(() -> Bodies.explode(open + "}]")).contains("'}'");
  }

  @ParameterizedTest
  @ValueSource(strings = {"[", "{\"a\":"})
  void nesting_beyond_the_paths_limit_is_too_large(String bracket) {
    String open = "{\"a\":" + bracket.repeat(300_000);
    Bodies.assertTooLarge(() -> Bodies.explode(open)).startsWith("The path a").contains("…");
    String closed = open + (bracket.equals("[") ? "]" : "}").repeat(300_000) + "}";
    Bodies.assertTooLarge(() -> Bodies.explode(closed)).startsWith("The path a");
  }

  @Test
  void five_thousand_nested_objects_break_the_paths_limit_only() {
    String deep = "{\"a\":".repeat(5_000) + "1" + "}".repeat(5_000);
    Bodies.assertTooLarge(() -> Bodies.explode(deep)).startsWith("The path a.a.a.");
    String nameless = "{\"\":".repeat(5_000) + "1" + "}".repeat(5_000);
    assertThat(Bodies.roundTrip(nameless)).isEqualTo(nameless);
  }

  @Test
  void nesting_is_as_deep_as_the_paths_limit_lets() {
    String deepest = "{\"a\":" + "[".repeat(9_998) + "]".repeat(9_998) + "}";
    assertThat(Bodies.roundTrip(deepest)).isEqualTo(deepest);
    Bodies.assertTooLarge(
            () -> Bodies.explode("{\"a\":" + "[".repeat(9_999) + "]".repeat(9_999) + "}"))
        .endsWith("takes 10001 bytes, the limit is 10000.");
  }

  @Test
  void integers_of_255_bytes_are_exact_and_larger_ones_refused() {
    String largest = JsonModel.LARGEST_INTEGER.toString();
    String json = "{\"a\":-" + largest + ",\"b\":" + largest + "}";
    assertThat(Bodies.roundTrip(json)).isEqualTo(json);
    String larger = JsonModel.LARGEST_INTEGER.add(java.math.BigInteger.ONE).toString();
    for (String number : List.of(larger, "-" + larger, "9".repeat(1_000_000))) {
      Bodies.assertBadRequest(() -> Bodies.explode("{\"a\":" + number + "}"))
          .isEqualTo("Invalid JSON at line 1, column 6: an integer of more than 255 bytes");
    }
  }

  @Test
  void doubles_out_of_range_are_refused() {
    assertThat(Bodies.roundTrip("{\"a\":1.7976931348623157e308}"))
        .isEqualTo("{\"a\":1.7976931348623157e+308}");
    for (String number : List.of("1.8e308", "-1e309", "1e1000000", "1" + "0".repeat(400) + ".0")) {
      Bodies.assertBadRequest(() -> Bodies.explode("{\"a\":" + number + "}"))
          .endsWith("a number out of the range of a double");
    }
    assertThat(Bodies.roundTrip("{\"a\":[1e-400,-1e-400,4.9e-324]}"))
        .isEqualTo("{\"a\":[0.0,0.0,4.9e-324]}");
  }

  @Test
  void unpaired_surrogates_are_refused() {
    for (String half : List.of("\\ud800", "\\udc00", "\\ud83d\\ud83d", "x\\udfffy", "\\ud83dx")) {
      Bodies.assertBadRequest(() -> Bodies.explode("{\"a\":[\"" + half + "\"]}"))
          .isEqualTo("Invalid JSON at line 1, column 7: a string has an unpaired surrogate");
      Bodies.assertBadRequest(() -> Bodies.explode("{\"" + half + "\":1}"))
          .startsWith("Invalid JSON at line 1, column ")
          .contains("surrogate");
      Bodies.assertBadRequest(() -> Bodies.explode("{\"o\":{\"" + half + "\":1}}"))
          .contains("surrogate");
    }
    assertThat(Bodies.roundTrip("{\"\\ud83d\\ude00\":\"\\ud83d\\ude00\"}"))
        .isEqualTo("{\"\ud83d\ude00\":\"\ud83d\ude00\"}");
  }

  private static Map<String, Object> withFiller(
      Map<String, Object> first, Map<String, Object> last) {
    Map<String, Object> all = new LinkedHashMap<>(first);
    all.putAll(last);
    all.put("", "filler");
    return all;
  }

  private static String members(Map<String, Object> object, Random random) {
    String text = JsonModel.write(new LinkedHashMap<>(object), random).strip();
    String inner = text.substring(1, text.length() - 1);
    return inner.isBlank() ? "\"\":\"filler\"" : inner + ",\"\":\"filler\"";
  }
}
