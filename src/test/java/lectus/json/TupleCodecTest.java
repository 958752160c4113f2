package lectus.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.apple.foundationdb.tuple.Tuple;
import com.apple.foundationdb.tuple.Versionstamp;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import lectus.json.MalformedTupleException.NewerFormatException;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;

/** Compares the codec with fdb-java's, byte for byte. */
class TupleCodecTest {
  private static final BigInteger LARGEST = BigInteger.TWO.pow(255 * 8).subtract(BigInteger.ONE);
  private final StoredFormat format = new StoredFormat(2, "A row");

  @Property
  void tuples_of_any_elements_are_encoded_as_foundationdb_does(
      @ForAll("elements") List<Object> elements) {
    TupleWriter writer = new TupleWriter(16);
    elements.forEach(element -> write(writer, element));
    assertThat(writer.toBytes()).isEqualTo(Tuple.fromList(elements).pack());
  }

  @Property
  void what_foundationdb_encodes_is_read_back(@ForAll("elements") List<Object> elements) {
    byte[] packed = Tuple.fromList(elements).pack();
    TupleReader reader = new TupleReader(packed, 0);
    List<Object> read = new ArrayList<>();
    while (reader.hasNext()) {
      read.add(read(reader));
    }
    assertThat(Tuple.fromList(read).pack()).isEqualTo(packed);
    assertThat(reader.position()).isEqualTo(packed.length);
  }

  @Property
  void strings_from_characters_and_from_utf8_are_the_same(@ForAll("strings") String text) {
    byte[] expected = Tuple.from(text).pack();
    char[] around = ("x" + text + "y").toCharArray();
    byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
    assertThat(new TupleWriter(16).string(around, 1, text.length()).toBytes()).isEqualTo(expected);
    assertThat(new TupleWriter(16).string(utf8, 0, utf8.length).toBytes()).isEqualTo(expected);
    assertThat(new TupleReader(expected, 0).string()).isEqualTo(text);
  }

  @Test
  void integers_at_every_power_of_two_are_encoded_as_foundationdb_does() {
    for (int bit = 0; bit <= 2039; bit++) {
      BigInteger power = BigInteger.ONE.shiftLeft(bit);
      for (int delta = -1; delta <= 1; delta++) {
        BigInteger value = power.add(BigInteger.valueOf(delta));
        assertInteger(value);
        assertInteger(value.negate());
      }
    }
    assertInteger(LARGEST);
    assertInteger(LARGEST.negate());
  }

  @Test
  void an_integer_of_256_bytes_is_refused() {
    BigInteger tooLarge = LARGEST.add(BigInteger.ONE);
    assertThatThrownBy(() -> new TupleWriter(16).integer(tooLarge))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new TupleWriter(16).integer(tooLarge.negate()))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void special_doubles_keep_their_bits() {
    double[] values = {
      0.0, -0.0, Double.MIN_VALUE, -Double.MIN_VALUE, Double.MAX_VALUE, Double.MIN_NORMAL, 1e-310
    };
    for (double value : values) {
      byte[] packed = new TupleWriter(16).real(value).toBytes();
      assertThat(packed).isEqualTo(Tuple.from(value).pack());
      assertThat(Double.doubleToRawLongBits(new TupleReader(packed, 0).real()))
          .isEqualTo(Double.doubleToRawLongBits(value));
    }
  }

  @Test
  void versionstamps_are_encoded_as_foundationdb_does() {
    Versionstamp stamp =
        Versionstamp.complete(new byte[] {1, 2, 3, 4, 5, 6, 7, 8, 9, (byte) 0xfe}, 513);
    byte[] packed = new TupleWriter(16).versionstamp(stamp.getBytes()).toBytes();
    assertThat(packed).isEqualTo(Tuple.from(stamp).pack());
    assertThat(new TupleReader(packed, 0).versionstamp()).isEqualTo(stamp.getBytes());
    assertThatThrownBy(() -> new TupleWriter(16).versionstamp(new byte[11]))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void unpaired_surrogates_are_refused() {
    for (String text : List.of("\ud800", "a\udc00", "\ud83d\ud83d\ude00", "é\udfff!", "x\ud83d")) {
      assertThatThrownBy(() -> new TupleWriter(16).string(text))
          .isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> new TupleWriter(16).string(text.toCharArray(), 0, text.length()))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void a_writer_cut_back_goes_on_where_it_was() {
    TupleWriter writer = new TupleWriter(new byte[] {7});
    writer.string("a");
    int mark = writer.length();
    writer.string("left out").truncate(mark).integer(3);
    assertThat(Arrays.copyOfRange(writer.array(), 1, writer.length()))
        .isEqualTo(Tuple.from("a", 3).pack());
    assertThatThrownBy(() -> writer.truncate(writer.length() + 1))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void raw_bytes_and_octets_stand_as_they_are() {
    byte[] bytes = new TupleWriter(16).octet(0x41).raw(new byte[] {0, 1}).toBytes();
    assertThat(bytes[0]).isEqualTo((byte) 0x41);
    TupleReader reader = new TupleReader(bytes, 1);
    assertThat(reader.rest()).containsExactly(0, 1);
    assertThat(reader.hasNext()).isFalse();
  }

  @Test
  void integers_that_no_long_hold_are_told_apart() {
    assertThat(reading(Long.MAX_VALUE).isBigInteger()).isFalse();
    assertThat(reading(Long.MIN_VALUE + 1).isBigInteger()).isFalse();
    assertThat(reading(Long.MIN_VALUE + 1).integer()).isEqualTo(Long.MIN_VALUE + 1);
    BigInteger above = BigInteger.valueOf(Long.MAX_VALUE).add(BigInteger.ONE);
    assertThat(reading(above).isBigInteger()).isTrue();
    assertThatThrownBy(() -> reading(above).integer()).isInstanceOf(MalformedTupleException.class);
    assertThat(reading(Integer.MAX_VALUE).smallInteger()).isEqualTo(Integer.MAX_VALUE);
    assertThatThrownBy(() -> reading(Integer.MAX_VALUE + 1L).smallInteger())
        .isInstanceOf(MalformedTupleException.class);
  }

  @Property
  void a_tuple_cut_short_or_of_another_type_is_malformed(@ForAll("element") Object element) {
    TupleWriter writer = new TupleWriter(16);
    write(writer, element);
    byte[] packed = writer.toBytes();
    for (int end = 0; end < packed.length; end++) {
      boolean behindHalfOfNul = end > 0 && packed[end - 1] == 0 && packed[end] == (byte) 0xff;
      if (behindHalfOfNul && packed[0] <= TupleType.STRING) {
        continue; // The rest is a shorter string.
      }
      TupleReader cut = new TupleReader(packed, 0, end);
      assertThatThrownBy(() -> read(cut)).isInstanceOf(MalformedTupleException.class);
    }
    TupleReader other = new TupleReader(packed, 0);
    assertThatThrownBy(other::versionstamp).isInstanceOf(MalformedTupleException.class);
  }

  @Provide
  Arbitrary<List<Object>> elements() {
    return element().list().ofMaxSize(8);
  }

  @Provide
  Arbitrary<Object> element() {
    return Arbitraries.oneOf(
        Arbitraries.longs().map(Object.class::cast),
        Arbitraries.bigIntegers().between(LARGEST.negate(), LARGEST).map(Object.class::cast),
        Arbitraries.doubles().map(Object.class::cast),
        Arbitraries.of(true, false).map(Object.class::cast),
        strings().map(Object.class::cast),
        Arbitraries.bytes().array(byte[].class).ofMaxSize(20).map(Object.class::cast),
        Arbitraries.just("").map(nothing -> (Object) null));
  }

  @Provide
  Arbitrary<String> strings() {
    return Arbitraries.frequencyOf(
            net.jqwik.api.Tuple.of(6, Arbitraries.integers().between(0, 0x7f)),
            net.jqwik.api.Tuple.of(1, Arbitraries.just(0)),
            net.jqwik.api.Tuple.of(1, Arbitraries.integers().between(0x80, 0xd7ff)),
            net.jqwik.api.Tuple.of(1, Arbitraries.integers().between(0xe000, 0x10ffff)))
        .list()
        .ofMaxSize(20)
        .map(TupleCodecTest::text);
  }

  private static String text(List<Integer> codePoints) {
    StringBuilder text = new StringBuilder();
    codePoints.forEach(text::appendCodePoint);
    return text.toString();
  }

  private static void assertInteger(BigInteger value) {
    byte[] expected = Tuple.from(value).pack();
    assertThat(new TupleWriter(16).integer(value).toBytes()).isEqualTo(expected);
    assertThat(new TupleReader(expected, 0).bigInteger()).isEqualTo(value);
    if (value.bitLength() <= 63) {
      assertThat(new TupleWriter(16).integer(value.longValueExact()).toBytes()).isEqualTo(expected);
    }
  }

  private static TupleReader reading(Object value) {
    return new TupleReader(Tuple.from(value).pack(), 0);
  }

  private static void write(TupleWriter writer, Object element) {
    if (element == null) {
      writer.nil();
    } else if (element instanceof Long value) {
      writer.integer(value);
    } else if (element instanceof BigInteger value) {
      writer.integer(value);
    } else if (element instanceof Double value) {
      writer.real(value);
    } else if (element instanceof Boolean value) {
      writer.bool(value);
    } else if (element instanceof String value) {
      writer.string(value);
    } else {
      writer.bytes((byte[]) element);
    }
  }

  private static Object read(TupleReader reader) {
    if (reader.isNil()) {
      reader.nil();
      return null;
    }
    if (reader.isBool()) {
      return reader.bool();
    }
    if (reader.isReal()) {
      return reader.real();
    }
    if (reader.isString()) {
      return reader.string();
    }
    if (reader.isBytes()) {
      return reader.bytes();
    }
    return reader.isBigInteger() ? reader.bigInteger() : (Object) reader.integer();
  }

  private static byte[] tuple(int number) {
    return new TupleWriter(8).integer(number).string("rest").toBytes();
  }

  @Test
  void the_known_format_is_read() {
    assertThat(format.reader(tuple(2)).string()).isEqualTo("rest");
    format.checkFirstByte(new byte[] {2, 7});
  }

  @Test
  void a_newer_format_is_no_damage() {
    String sentence =
        "A row was written by a newer version of Lectus: it has format 3, this version reads up to"
            + " 2";
    assertThatThrownBy(() -> format.reader(tuple(3)))
        .isInstanceOf(NewerFormatException.class)
        .hasMessage(sentence);
    assertThatThrownBy(() -> format.checkFirstByte(new byte[] {3}))
        .isInstanceOf(NewerFormatException.class)
        .hasMessage(sentence);
  }

  @Test
  void damage_is_no_newer_format() {
    assertThatThrownBy(() -> format.reader(tuple(1)))
        .isExactlyInstanceOf(MalformedTupleException.class)
        .hasMessage("A row is damaged: it has format 1");
    assertThatThrownBy(() -> format.reader(new byte[0]))
        .isExactlyInstanceOf(MalformedTupleException.class);
    assertThatThrownBy(() -> format.reader(new byte[] {0x1c}))
        .isExactlyInstanceOf(MalformedTupleException.class);
    assertThatThrownBy(() -> format.reader(new byte[] {2, 'x'}))
        .isExactlyInstanceOf(MalformedTupleException.class);
    assertThatThrownBy(() -> format.checkFirstByte(new byte[0]))
        .isExactlyInstanceOf(MalformedTupleException.class)
        .hasMessage("A row is damaged: it is empty");
    assertThatThrownBy(() -> format.checkFirstByte(new byte[] {1}))
        .isExactlyInstanceOf(MalformedTupleException.class);
  }
}
