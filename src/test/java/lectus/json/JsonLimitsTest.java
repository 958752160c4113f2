package lectus.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Each limit on both of its sides, RFC 004 "Key Changes". */
class JsonLimitsTest {
  private static final JsonLimits DEFAULTS = JsonLimits.couchDb();
  private static final JsonLimits RFC004 = JsonLimits.rfc004();

  /** Type code and terminator of a tuple-encoded string. */
  private static final int STRING_FRAME = 2;

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
