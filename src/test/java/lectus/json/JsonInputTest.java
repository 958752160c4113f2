package lectus.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonToken;
import java.io.ByteArrayOutputStream;
import java.math.BigDecimal;
import java.math.BigInteger;
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

  @Property
  void strings_read_back(@ForAll("strings") String text) {
    JsonBuffer fromText = new JsonBuffer(1).string(text);
    assertThat(JsonModel.read(fromText.toBytes())).isEqualTo(text);
    byte[] utf8 = ("é" + text + "€").getBytes(StandardCharsets.UTF_8);
    assertThat(JsonBuffer.quotedSize(utf8, 2, utf8.length - 3)).isEqualTo(fromText.length());
  }

  @Test
  void only_what_must_be_is_escaped() {
    String text = "\"\\/\b\f\n\r\t\0\u001f\u007fé\u2028\ud83d\ude00";
    assertThat(new JsonBuffer(1).string(text).toString())
        .isEqualTo("\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0000\\u001f\u007fé\u2028\ud83d\ude00\"");
  }

  @Test
  void unpaired_surrogates_become_the_replacement_character() {
    assertThat(new JsonBuffer(1).string("a\ud800b\ud83d\ude00\udc00").toString())
        .isEqualTo("\"a\ufffdb\ud83d\ude00\ufffd\"");
  }

  @ParameterizedTest
  @ValueSource(
      longs = {0, 9, 10, 99, 100, 999_999_999, Integer.MIN_VALUE, Long.MAX_VALUE, Long.MIN_VALUE})
  void longs_are_written_as_java_does(long value) {
    for (long near : new long[] {value, -value, value - 1, value + 1}) {
      assertThat(new JsonBuffer(1).number(near).toString()).isEqualTo(Long.toString(near));
    }
  }

  @Property
  void any_long_is_written_as_java_does(@ForAll long value) {
    assertThat(new JsonBuffer(1).number(value).toString()).isEqualTo(Long.toString(value));
  }

  @ParameterizedTest
  @CsvSource({
    "0.0, 0.0",
    "-0.0, -0.0",
    "1, 1.0",
    "-1, -1.0",
    "100, 100.0",
    "1.5, 1.5",
    "0.1, 0.1",
    "1e7, 10000000.0",
    "12345678.9, 12345678.9",
    "123456789012345680, 123456789012345680.0",
    "9007199254740991, 9007199254740991.0",
    "9007199254740993, 9007199254740992.0",
    "1e20, 100000000000000000000.0",
    "1e21, 1e+21",
    "-1.5e300, -1.5e+300",
    "0.001, 0.001",
    "0.0001, 0.0001",
    "0.000001, 0.000001",
    "0.0000015, 0.0000015",
    "1e-7, 1e-7",
    "1.25e-7, 1.25e-7",
    "2e-44, 2e-44",
    "4.9e-324, 4.9e-324",
    "2.2250738585072014e-308, 2.2250738585072014e-308",
    "1.7976931348623157e308, 1.7976931348623157e+308",
    "2e23, 2e+23"
  })
  void doubles_are_short_and_in_plain_form(double value, String expected) {
    assertThat(new JsonBuffer(1).number(value).toString()).isEqualTo(expected);
  }

  @Property
  void any_double_reads_back_with_its_bits(@ForAll long bits) {
    double value = Double.longBitsToDouble(bits);
    if (Double.isFinite(value)) {
      String text = new JsonBuffer(1).number(value).toString();
      assertThat(Double.doubleToRawLongBits(Double.parseDouble(text))).isEqualTo(bits);
      assertThat(JsonModel.read(text.getBytes(StandardCharsets.US_ASCII)))
          .as("a number with fraction or exponent")
          .isEqualTo(value);
    }
  }

  @Test
  void a_number_with_few_decimals_is_written_as_people_write_it() {
    Random random = new Random(7);
    for (int i = 0; i < 100_000; i++) {
      long unscaled = random.nextLong() >> random.nextInt(20, 64);
      BigDecimal decimal = BigDecimal.valueOf(unscaled, random.nextInt(1, 7));
      boolean isIntegral = decimal.stripTrailingZeros().scale() <= 0;
      String text = decimal.stripTrailingZeros().toPlainString() + (isIntegral ? ".0" : "");
      if (Math.abs(unscaled) < 1e15 && decimal.abs().doubleValue() >= 1e-6) {
        assertThat(new JsonBuffer(1).number(decimal.doubleValue()).toString()).isEqualTo(text);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(doubles = {Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY})
  void what_json_has_not_is_refused(double value) {
    assertThatThrownBy(() -> new JsonBuffer(1).number(value))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void pieces_lie_behind_each_other() {
    JsonBuffer out = new JsonBuffer(0).octet('[').bool(true).octet(',').bool(false).octet(',');
    out.nil().octet(',').number(new BigInteger("-9".repeat(1) + "9".repeat(30))).octet(',');
    int mark = out.length();
    out.ascii("left out").truncate(mark).raw("\"é\"".getBytes(StandardCharsets.UTF_8));
    out.raw(new byte[] {'x', ']', 'x'}, 1, 2);
    String expected = "[true,false,null,-9" + "9".repeat(30) + ",\"é\"]";
    assertThat(out.toString()).isEqualTo(expected);
    assertThat(out.array()).startsWith(out.toBytes());
    assertThatThrownBy(() -> out.truncate(out.length() + 1))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Provide
  Arbitrary<String> strings() {
    return JsonModel.strings();
  }

  @Test
  void a_bounded_buffer_takes_as_many_bytes_as_it_may_and_none_more() {
    JsonBuffer full = JsonBuffer.atMost(1_000, 10).ascii("x".repeat(999)).octet('y');

    assertThat(full.length()).isEqualTo(1_000);
    assertThatThrownBy(() -> full.octet('z')).isInstanceOf(JsonBuffer.FullException.class);
    assertThatThrownBy(() -> JsonBuffer.atMost(1_000, 10).ascii("x".repeat(1_001)))
        .isInstanceOf(JsonBuffer.FullException.class);
  }

  @Test
  void whatever_is_escaped_is_found_wherever_it_stands() {
    for (int value = 0; value < 256; value++) {
      boolean isEscaped = value < ' ' || value == '"' || value == '\\';
      for (int place = 0; place < 20; place++) {
        for (int around : new int[] {'!', 0x7f, 0xff}) {
          byte[] text = new byte[20];
          Arrays.fill(text, (byte) around);
          text[place] = (byte) value;
          assertThat(JsonBuffer.plainEnd(text, 1, 19))
              .isEqualTo(isEscaped && place > 0 ? Math.min(place, 19) : 19);
        }
      }
    }
  }
}
