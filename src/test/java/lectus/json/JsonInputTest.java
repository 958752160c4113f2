package lectus.json;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonToken;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.function.Supplier;
import lectus.error.LectusException;
import lectus.json.JsonValue.JsonArray;
import lectus.json.JsonValue.JsonBool;
import lectus.json.JsonValue.JsonNull;
import lectus.json.JsonValue.JsonNumber;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class JsonInputTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\'',
      value = {
        "{\"a\":}|1|6|expected a value",
        "{\"a\":1,}|1|8|was expecting double-quote to start field name",
        "{\"a\":1,~ \"b\" 2}|2|6|was expecting a colon",
        "{\"a\":[1,~~2 3]}|3|3|was expecting comma",
        "{\"a\":[1,2|1|10|unexpected end of the input",
        "{\"a\":\"x|1|8|unexpected end of the input",
        "{\"a|1|4|unexpected end of the input",
        "{\"a\":\"\\u12|1|11|unexpected end of the input",
        "{\"a\":12e|1|9|unexpected end of the input",
        "~~|3|1|unexpected end of the input",
        "{'a':1}|1|2|was expecting double-quote",
        "{a:1}|1|2|was expecting double-quote",
        "{\"é\":tru}|1|6|Unrecognized token 'tru'",
        "{\"\ud83d\ude00\":nul}|1|7|Unrecognized token 'nul'",
        "{\"a\":01}|1|7|Leading zeroes not allowed",
        "{\"a\":1.}|1|8|Decimal point not followed by a digit",
        "{\"a\":+1}|1|6|plus",
        "{\"a\":.5}|1|6|expected a valid value",
        "{\"a\":-}|1|7|expected digit",
        "{\"a\":NaN}|1|6|NaN",
        "{\"a\":-Infinity}|1|15|Infinity",
        "{\"a\":\"x~y\"}|1|8|Illegal unquoted character",
        "{\"a\":\"\\x\"}|1|8|Unrecognized character escape 'x'",
        "{\"a\":1}}|1|8|Unexpected close marker '}'",
        "{\"a\":[1}}|1|8|expected ']'",
        "{\"a\":1} 2|1|9|unexpected content behind the end of the value",
        "{\"a\":1/*c*/}|1|7|Unexpected character",
        "{\"a\":1}//|1|8|Unexpected character",
        "\uFEFF{}|1|1|Unexpected character"
      })
  void bad_json_is_answered_with_its_place(String json, int line, int column, String what) {
    Bodies.assertBadRequest(() -> Bodies.explode(json.replace('~', '\n')))
        .startsWith("Invalid JSON at line " + line + ", column ")
        .contains(what)
        .doesNotContain("Source:", "enable", "JsonReadFeature", "\n")
        .satisfies(reason -> assertThat(columnOf(reason)).isBetween(column - 1, column + 3));
  }

  @ParameterizedTest
  @ValueSource(strings = {"{\"a\":}", "{\"a\":1,}", "{\"a\" 2}", "{\"a\":[1 }"})
  void the_column_is_that_of_the_first_character_that_does_not_belong(String json) {
    int offending = json.lastIndexOf(json.contains("2") ? '2' : '}') + 1;
    Bodies.assertBadRequest(() -> Bodies.explode(json)).contains("column " + offending + ":");
  }

  @Property
  void malformed_utf8_is_found_as_the_jdk_finds_it(@ForAll @Size(max = 12) byte[] tail) {
    byte[] data = concat("0123456789".getBytes(StandardCharsets.US_ASCII), tail);
    assertThat(JsonInput.firstMalformed(data, 0, data.length) < 0).isEqualTo(isUtf8(data));
  }

  @Test
  void every_two_and_three_byte_beginning_is_judged_as_the_jdk_does() {
    for (int lead = 0x80; lead <= 0xff; lead++) {
      for (int second = 0x70; second <= 0xff; second++) {
        byte[] two = {(byte) lead, (byte) second};
        byte[] three = {(byte) lead, (byte) second, (byte) 0x80};
        byte[] four = {(byte) lead, (byte) second, (byte) 0xbf, (byte) 0x80};
        for (byte[] data : new byte[][] {two, three, four}) {
          assertThat(JsonInput.firstMalformed(data, 0, data.length) < 0)
              .as(HexFormat.of().formatHex(data))
              .isEqualTo(isUtf8(data));
        }
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    "7b2261223a22ff227d, 1, 7", // a byte that never occurs
    "7b2261223a22c080227d, 1, 7", // an over-long NUL
    "7b2261223a22eda080227d, 1, 7", // a surrogate
    "7b2261223a22f4908080227d, 1, 7", // above U+10FFFF
    "7b2261223a0a22c3a920e282, 2, 4", // cut off
    "fffe7b007d00, 1, 1", // UTF-16 with a byte order mark
  })
  void malformed_utf8_is_answered_with_its_place(String hex, int line, int column) {
    byte[] json = HexFormat.of().parseHex(hex);
    Bodies.assertBadRequest(() -> Bodies.explode(json, JsonLimits.couchDb()))
        .isEqualTo("Invalid JSON at line " + line + ", column " + column + ": malformed UTF-8");
  }

  @Test
  void utf16_is_not_guessed() {
    byte[] json = "{\"a\":1}".getBytes(StandardCharsets.UTF_16LE);
    Bodies.assertBadRequest(() -> Bodies.explode(json, JsonLimits.couchDb()))
        .startsWith("Invalid JSON at line 1, column 3");
  }

  @Test
  void characters_of_all_sizes_survive_the_readers_buffer_ends() {
    StringBuilder json = new StringBuilder("{\"a\":\"");
    json.append("é€\ud83d\ude00x".repeat(5_000)).append("\",\"b\":\"");
    json.append("xé€\ud83d\ude00".repeat(5_000)).append("\"}");
    assertThat(Bodies.roundTrip(json.toString())).isEqualTo(json.toString());
  }

  @Property
  void bytes_that_come_in_parts_are_read_as_if_they_came_together(
      @ForAll @Size(max = 12) byte[] any, @ForAll @IntRange(min = 1, max = 7) int part) {
    for (String text : new String[] {"\"\ud83d\ude00€", "\"aé\ud83d\ude00\u0800"}) {
      byte[] head = text.getBytes(StandardCharsets.UTF_8);
      byte[] json = ByteBuffer.allocate(head.length + any.length + 1).put(head).put(any).array();
      json[json.length - 1] = '"';
      int[] at = {0};
      JsonInput parts =
          JsonInput.of(
              () -> {
                int from = at[0];
                at[0] = Math.min(json.length, from + part);
                return Arrays.copyOfRange(json, from, at[0]);
              });
      assertThat(textOrNone(() -> parts)).isEqualTo(textOrNone(() -> JsonInput.of(json)));
    }
  }

  private static Optional<String> textOrNone(Supplier<JsonInput> json) {
    try (JsonInput input = json.get()) {
      input.next();
      String text = input.text();
      input.expectEnd();
      return Optional.of(text);
    } catch (LectusException none) {
      return Optional.empty();
    }
  }

  @Test
  void a_slice_is_read_without_what_lies_around() {
    byte[] around = "xx{\"a\":1}yy".getBytes(StandardCharsets.UTF_8);
    try (JsonInput input = JsonInput.of(around, 2, around.length - 2)) {
      assertThat(input.next()).isEqualTo(JsonToken.START_OBJECT);
      assertThat(input.next()).isEqualTo(JsonToken.FIELD_NAME);
      assertThat(input.name()).isEqualTo("a");
      assertThat(input.next()).isEqualTo(JsonToken.VALUE_NUMBER_INT);
      assertThat(input.text()).isEqualTo("1");
      assertThat(input.next()).isEqualTo(JsonToken.END_OBJECT);
      input.expectEnd();
      assertThat(input.next()).isNull();
    }
  }

  @Test
  void skipped_values_are_checked_for_their_syntax_and_their_depth() {
    skip("[1,{\"a\":[]}]");
    skip("[".repeat(15_000) + "]".repeat(15_000));
    Bodies.assertBadRequest(() -> skip("[1,{\"a\":[}]")).contains("column 10");
    Bodies.assertBadRequest(() -> skip("[".repeat(1_000_000)))
        .endsWith(": nested deeper than 20000");
  }

  @Test
  void strings_and_numbers_of_a_megabyte_are_left_to_our_limits() {
    String long1 = "7".repeat(2_000_000);
    try (JsonInput input =
        JsonInput.of(("[\"" + long1 + "\"," + long1 + "]").getBytes(StandardCharsets.UTF_8))) {
      input.next();
      input.next();
      assertThat(input.text()).isEqualTo(long1);
      input.next();
      assertThat(input.text()).isEqualTo(long1);
    }
  }

  @Test
  void names_are_bounded_before_they_fill_the_memory() {
    String longest = "n".repeat(JsonInput.LONGEST_NAME);
    skip("{\"" + longest + "\":1}");
    skip("[{\"a\":{\"" + longest + "\":1}}]");
    String reason = ": a name is longer than 1048576 characters";
    Bodies.assertBadRequest(() -> skip("{\"" + longest + "n\":1}")).endsWith(reason);
    Bodies.assertBadRequest(() -> skip("{\"" + longest.repeat(40) + "\":1}")).endsWith(reason);
    Bodies.assertBadRequest(() -> skip("{\"" + longest.repeat(40))).endsWith(reason);
  }

  private static void skip(String json) {
    try (JsonInput input = JsonInput.of(json.getBytes(StandardCharsets.UTF_8))) {
      input.next();
      input.skip();
      input.expectEnd();
    }
  }

  private static int columnOf(String reason) {
    return Integer.parseInt(reason.replaceAll("(?s).*?column (\\d+):.*", "$1"));
  }

  private static boolean isUtf8(byte[] data) {
    try {
      StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(data));
      return true;
    } catch (CharacterCodingException e) {
      return false;
    }
  }

  private static byte[] concat(byte[] head, byte[] tail) {
    ByteArrayOutputStream both = new ByteArrayOutputStream();
    both.writeBytes(head);
    both.writeBytes(tail);
    return both.toByteArray();
  }

  @Property
  void what_is_read_is_written_again(
      @ForAll("objects") Map<String, Object> object, @ForAll Random random) {
    JsonBuffer out = new JsonBuffer(16);
    parse(JsonModel.write(object, random)).writeTo(out);
    assertThat(JsonModel.read(out.toBytes())).isEqualTo(object);
  }

  @Test
  void values_of_all_kinds() {
    JsonObject object = (JsonObject) parse("{\"a\":[\"x\",-1.50,true,null,{}],\"b\":1,\"b\":2}");
    assertThat(object.get("b")).contains(new JsonNumber("2"));
    assertThat(object.get("c")).isEmpty();
    assertThat(((JsonArray) object.members().get("a")).elements())
        .containsExactly(
            new JsonString("x"),
            new JsonNumber("-1.50"),
            new JsonBool(true),
            new JsonNull(),
            new JsonObject(Map.of()));
    assertThat(parse(" 5 ")).isEqualTo(new JsonNumber("5"));
  }

  @Test
  void depth_is_limited() {
    int deepest = JsonValue.DEEPEST;
    assertThat(parse("[".repeat(deepest) + "]".repeat(deepest))).isInstanceOf(JsonArray.class);
    Bodies.assertBadRequest(() -> parse("[".repeat(deepest + 1) + "]".repeat(deepest + 1)))
        .isEqualTo("Invalid JSON at line 1, column 501: nested deeper than 500");
    Bodies.assertBadRequest(() -> parse("{\"a\":".repeat(5_000))).contains("nested deeper");
  }

  @Test
  void more_or_less_than_one_value_is_refused() {
    Bodies.assertBadRequest(() -> parse("")).contains("unexpected end");
    Bodies.assertBadRequest(() -> parse("{} {}")).contains("column 4: unexpected content");
    Bodies.assertBadRequest(() -> parse("[\"\\ud800\"]")).contains("surrogate");
    Bodies.assertBadRequest(() -> parse("[1,]")).contains("column 4");
  }

  @Provide
  Arbitrary<Map<String, Object>> objects() {
    return JsonModel.objects();
  }

  private static JsonValue parse(String json) {
    return JsonValue.parse(json.getBytes(StandardCharsets.UTF_8));
  }
}
