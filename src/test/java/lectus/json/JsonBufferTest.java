package lectus.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class JsonBufferTest {
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
