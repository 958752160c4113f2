package lectus.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
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
  private static final JsonLimits DEFAULTS = JsonLimits.couchDb();
  private static final JsonLimits RFC004 = JsonLimits.rfc004();

  /** Type code and terminator of a tuple-encoded string. */
  private static final int STRING_FRAME = 2;

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

  @Test
  void a_string_may_take_the_stores_whole_value() {
    String longest = "x".repeat(100_000 - STRING_FRAME);
    ExplodedBody body = Bodies.explode("{\"a\":\"" + longest + "\"}", RFC004);
    assertThat(body.leaves().get(0).value()).hasSize(JsonLimits.STORE_VALUE_BYTES);
    assertThat(body.rows()).isEqualTo(1);
    String longer = "{\"a\":{\"b.c\":[7,\"" + longest + "x\"]}}";
    assertThat(Bodies.explode(longer).rows()).isEqualTo(3);
    Bodies.assertTooLarge(() -> Bodies.explode(longer, RFC004))
        .isEqualTo("The value of a.b\\.c[1] takes 100001 bytes, the limit is 100000.");
  }

  @Test
  void nuls_in_strings_count_twice() {
    String nuls = "\\u0000".repeat(49_999);
    assertThat(Bodies.explode("{\"a\":\"" + nuls + "\"}", RFC004).leaves().get(0).value())
        .hasSize(JsonLimits.STORE_VALUE_BYTES);
    Bodies.assertTooLarge(() -> Bodies.explode("{\"a\":\"" + nuls + "x\"}", RFC004))
        .contains("of a takes 100001 bytes");
  }

  @Test
  void strings_count_in_bytes_of_utf8() {
    JsonLimits limits = new JsonLimits(14, 100, 1000, 0);
    assertThatCode(() -> Bodies.explode("{\"a\":\"\ud83d\ude00\ud83d\ude00éé\"}", limits))
        .doesNotThrowAnyException();
    Bodies.assertTooLarge(() -> Bodies.explode("{\"a\":\"\ud83d\ude00\ud83d\ude00ééé\"}", limits))
        .contains("16 bytes, the limit is 14");
  }

  @Test
  void a_path_may_take_the_stores_whole_key_beside_its_prefix() {
    JsonLimits limits = DEFAULTS.withKeyOverhead(60);
    String longest = "n".repeat(10_000 - 60 - STRING_FRAME);
    Leaf leaf = Bodies.explode("{\"" + longest + "\":1}", limits).leaves().get(0);
    assertThat(60 + leaf.path().length).isEqualTo(JsonLimits.STORE_KEY_BYTES);
    Bodies.assertTooLarge(() -> Bodies.explode("{\"" + longest + "n\":1}", limits))
        .startsWith("The path nnnnn")
        .contains("n…n")
        .endsWith("takes 9941 bytes, the limit is 9940.")
        .hasSizeLessThan(200);
  }

  @Test
  void a_long_strings_path_leaves_room_for_the_numbers_of_its_pieces() {
    JsonLimits limits = DEFAULTS.withKeyOverhead(60);
    String string = "\":\"" + "x".repeat(200_000) + "\"}";
    String longest = "n".repeat(10_000 - 60 - STRING_FRAME - 4);
    ExplodedBody body = Bodies.explode("{\"" + longest + string, limits);
    assertThat(body.rows()).isEqualTo(3);
    body.forEachRow(
        (path, value) ->
            assertThat(60 + path.length).isLessThanOrEqualTo(JsonLimits.STORE_KEY_BYTES));
    assertThatCode(() -> body.requireFit(limits)).doesNotThrowAnyException();
    Bodies.assertTooLarge(() -> Bodies.explode("{\"" + longest + "n" + string, limits))
        .endsWith("takes 9937 bytes, the limit is 9936.");
    Bodies.assertTooLarge(() -> body.requireFit(limits.withKeyOverhead(61)))
        .endsWith("takes 9936 bytes, the limit is 9935.");
  }

  @Test
  void a_paths_limit_counts_the_path_alone() {
    JsonLimits limits = new JsonLimits(100, 8, 1000, 60);
    assertThatCode(() -> Bodies.explode("{\"ab\":{\"cd\":1}}", limits)).doesNotThrowAnyException();
    Bodies.assertTooLarge(() -> Bodies.explode("{\"ab\":{\"cde\":1}}", limits))
        .isEqualTo("The path ab.cde takes 9 bytes, the limit is 8.");
    Bodies.assertTooLarge(() -> Bodies.explode("{\"ab\":{\"cd\":[]},\"x\":[[[[[[[]]]]]]]}", limits))
        .isEqualTo("The path x[0][0][0][0][0][0] takes 9 bytes, the limit is 8.");
  }

  @Test
  void the_last_array_position_of_one_byte_is_on_the_paths_limit() {
    JsonLimits limits = new JsonLimits(100, 5, 10_000, 0);
    String elements = "0" + ",0".repeat(255);
    assertThatCode(() -> Bodies.explode("{\"a\":[" + elements + "]}", limits))
        .doesNotThrowAnyException();
    Bodies.assertTooLarge(() -> Bodies.explode("{\"a\":[" + elements + ",0]}", limits))
        .isEqualTo("The path a[256] takes 6 bytes, the limit is 5.");
  }

  @Test
  void a_document_may_have_eight_million_bytes_of_json_in_one_string() {
    String json = "{\"a\":\"" + "x".repeat(8_000_000 - 8) + "\"}";
    assertThat(Bodies.explode(json).jsonBytes()).isEqualTo(8_000_000);
    Bodies.assertTooLarge(() -> Bodies.explode(json.replace("\"}", "x\"}")))
        .isEqualTo("The document has 8000001 bytes of JSON, the limit is 8000000.");
    Bodies.assertTooLarge(() -> Bodies.explode(json.replace("\"}", "x".repeat(9) + "\"}")))
        .isEqualTo(
            "The string a has 8000001 characters, the limit of a document is 8000000 bytes.");
  }

  @Test
  void a_document_may_have_so_many_bytes_as_its_limit_says() {
    String json = "{\"a\":\"" + "x".repeat(9_300_000 - 8) + "\"}";
    JsonLimits most = DEFAULTS.withDocumentBytes(JsonLimits.MAX_DOCUMENT_BYTES);
    ExplodedBody body = Bodies.explode(json, most.withKeyOverhead(600));
    assertThat(body.jsonBytes()).isEqualTo(JsonLimits.MAX_DOCUMENT_BYTES);
    assertThatCode(() -> body.requireFit(most.withKeyOverhead(1_100))).doesNotThrowAnyException();
  }

  @Test
  void the_rfcs_document_may_have_a_million_bytes_of_json() {
    String element = ",\"" + "x".repeat(50_000) + "\"";
    StringBuilder body = new StringBuilder("{\"a\":[0").append(element.repeat(19)).append(",\"");
    String rest = "y".repeat(1_000_000 - body.length() - "\"]}".length());
    body.append(rest).append("\"]}");
    assertThat(body.length()).isEqualTo(1_000_000);
    assertThat(Bodies.explode(body.toString(), RFC004).jsonBytes()).isEqualTo(1_000_000);
    String larger = body.toString().replace("yy\"]", "yyy\"]");
    Bodies.assertTooLarge(() -> Bodies.explode(larger, RFC004))
        .isEqualTo("The document has 1000001 bytes of JSON, the limit is 1000000.");
  }

  @Test
  void white_space_and_needless_escapes_do_not_count() {
    JsonLimits limits = new JsonLimits(100, 100, 9, 0);
    assertThatCode(() -> Bodies.explode("{  \"\\u0061\" : \"\\u0061\"\n}", limits))
        .doesNotThrowAnyException();
    Bodies.assertTooLarge(() -> Bodies.explode("{\"a\":\"ab\"}", limits)).contains("has 10 bytes");
  }

  @Test
  void replaced_members_do_not_count() {
    JsonLimits limits = new JsonLimits(100, 100, 9, 2);
    ExplodedBody body =
        Bodies.explode("{\"a\":[1,2],\"a\":{\"b\":{}},\"a\":\"xyz\",\"a\":\"b\"}", limits);
    assertThat(body.jsonBytes()).isEqualTo(9);
    assertThat(body.storedBytes()).isEqualTo(6);
  }

  @Test
  void a_long_name_above_many_elements_is_held_once() {
    String json = "{\"" + "n".repeat(9_900) + "\":[7" + ",7".repeat(450_000) + "]}";
    ExplodedBody body = Bodies.explode(json, DEFAULTS.withKeyOverhead(50));
    assertThat(body.jsonBytes()).isEqualTo(json.length());
    assertThat(body.rows()).isEqualTo(450_001);
    assertThat(body.storedBytes()).isGreaterThan(4_400_000_000L);
    assertThat(body.memoryBytes()).isLessThan(json.length() + 1_000L);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"0", "0.5", "1e9", "[0]", "[[[[]]]]", "{\"\":1}", "\"\"", "[{}]", "\"\\u0001\""})
  void a_body_takes_less_than_three_times_the_memory_of_its_json(String element) {
    String json = "{\"a\":[" + (element + ",").repeat(100_000) + "0]}";
    assertThat(Bodies.explode(json).memoryBytes()).isLessThan(3L * json.length());
  }

  @Test
  void the_size_of_a_document_that_is_far_too_large_is_named() {
    Bodies.assertTooLarge(() -> Bodies.explode(sevens(15_000_000), DEFAULTS))
        .isEqualTo("The document has 30000007 bytes of JSON, the limit is 8000000.");
  }

  @Test
  void replaced_members_do_not_pile_up() {
    StringBuilder json = new StringBuilder("{\"x\":0");
    String member = ",\"" + "n".repeat(9_000) + "\":[7" + ",7".repeat(800) + "]";
    // As leaves, each round weighs 7.2 MB.
    json.append(member.repeat(200)).append('}');
    ExplodedBody body = Bodies.explode(json.toString());
    assertThat(body.leaves()).hasSize(802);
  }

  @Test
  void limits_that_the_store_cannot_keep_are_refused() {
    assertThatCode(() -> new JsonLimits(Integer.MAX_VALUE, 10_000, 1, 9_999))
        .doesNotThrowAnyException();
    assertRefused(0, 10_000, 0);
    assertRefused(100_000, 10_001, 0);
    assertRefused(100_000, 0, 0);
    assertRefused(100_000, 10_000, 10_000);
    assertRefused(100_000, 10_000, -1);
  }

  @Test
  void a_body_is_checked_again_when_its_keys_are_known() {
    ExplodedBody body = Bodies.explode("{\"abc\":[1,2]}");
    assertThatCode(() -> body.requireFit(DEFAULTS.withKeyOverhead(9_993)))
        .doesNotThrowAnyException();
    Bodies.assertTooLarge(() -> body.requireFit(DEFAULTS.withKeyOverhead(9_994)))
        .isEqualTo("The path abc[1] takes 7 bytes, the limit is 6.");
  }

  private static String sevens(int count) {
    return "{\"a\":[7" + ",7".repeat(count - 1) + "]}";
  }

  private static void assertRefused(int stringBytes, int pathBytes, int keyOverhead) {
    assertThatThrownBy(() -> new JsonLimits(stringBytes, pathBytes, 1, keyOverhead))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
