package lectus.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.apple.foundationdb.tuple.ByteArrayUtil;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import lectus.json.LeafView.LeafType;
import lectus.json.PlacedStrings.Step;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The strings of random JSON that stand at a place, however the JSON is cut. */
class PlacedStringsTest {
  private static final List<Step> WAY =
      List.of(Step.member("docs"), Step.ELEMENT, Step.member("_a"), Step.ANY_MEMBER);
  private static final Set<String> WANTED = Set.of("data", "type");
  private static final String[] NAMES = {
    "docs", "_a", "data", "type", "", "x", "d\\u0061ta", "\\u005fa", "\\\"", "docs\\\\", "\u00fc"
  };
  private static final String[] TEXTS = {
    "", "data", "\\\\", "\\\"", "[", "{", "}", "]", ",", ":", "\\u0022", "long ".repeat(9), "\u20ac"
  };

  /** Type code and terminator of a tuple-encoded string. */
  private static final int FRAME = 2;

  /** Marker and length before the first piece: 42, and an integer of three bytes. */
  private static final int HEAD = 5;

  private static final class Found implements PlacedStrings.Taker {
    private final ByteArrayOutputStream rest = new ByteArrayOutputStream();
    private final ByteArrayOutputStream string = new ByteArrayOutputStream();
    private final List<String> strings = new ArrayList<>();

    @Override
    public void rest(byte[] json, int from, int to) {
      rest.write(json, from, to - from);
    }

    @Override
    public void begins(String member, long object) {
      strings.add(member);
    }

    @Override
    public void content(byte[] json, int from, int to) {
      string.write(json, from, to - from);
    }

    @Override
    public void ends() {
      strings.add(string.toString(StandardCharsets.UTF_8));
      string.reset();
    }
  }

  /** Writes random JSON, and notes what is to be found and what is left of it then. */
  private static final class Writer {
    private final Random random;
    private final StringBuilder json = new StringBuilder();
    private final StringBuilder rest = new StringBuilder();
    private final List<String> expected = new ArrayList<>();

    Writer(Random random) {
      this.random = random;
    }

    private void both(String text) {
      json.append(text);
      rest.append(text);
    }

    /**
     * @param at how many steps of the way led here; negative: it was left
     */
    void value(int at, int depth) {
      boolean isOnWay = at >= 0 && random.nextInt(8) > 0;
      boolean isElement = isOnWay && at < WAY.size() && WAY.get(at).isElement();
      int kind = isOnWay && at <= WAY.size() ? (isElement ? 1 : 0) : random.nextInt(4);
      if (kind == 0 && depth < 7) {
        object(at, depth);
      } else if (kind == 1 && depth < 7) {
        array(at, depth);
      } else {
        both(kind == 2 ? "-1.5e3" : '"' + text() + '"');
      }
    }

    private String text() {
      return TEXTS[random.nextInt(TEXTS.length)];
    }

    private void array(int at, int depth) {
      boolean isStep = at >= 0 && at < WAY.size() && WAY.get(at).isElement();
      both("[");
      for (int i = random.nextInt(4); i > 0; i--) {
        value(isStep ? at + 1 : -1, depth + 1);
        both(i > 1 ? " ," : "");
      }
      both("]");
    }

    private void object(int at, int depth) {
      both(" {");
      for (int i = random.nextInt(5); i > 0; i--) {
        String name = NAMES[random.nextInt(NAMES.length)];
        both('"' + name + "\" :");
        member(at, name.replace("\\u0061", "a").replace("\\u005f", "_"), depth);
        both(i > 1 ? "," : "");
      }
      both("}");
    }

    private void member(int at, String name, int depth) {
      boolean isWanted = at == WAY.size() && WANTED.contains(name);
      if (isWanted && depth < 7 && random.nextInt(4) == 0) {
        array(-1, depth + 1);
      } else if (isWanted) {
        String text = text();
        both("\"");
        json.append(text);
        both("\"");
        expected.add(name);
        expected.add(text);
      } else {
        boolean isStep =
            at >= 0
                && at < WAY.size()
                && !WAY.get(at).isElement()
                && WAY.get(at).name().map(name::equals).orElse(true);
        value(isStep ? at + 1 : -1, depth + 1);
      }
    }
  }

  @Property
  void they_are_found_and_everything_else_is_passed_on(
      @ForAll long seed, @ForAll @IntRange(min = 1, max = 40) int piece) {
    Writer writer = new Writer(new Random(seed));
    writer.object(0, 0);
    byte[] json = writer.json.toString().getBytes(StandardCharsets.UTF_8);
    Found found = new Found();
    PlacedStrings strings = new PlacedStrings(WAY, WANTED, found);
    for (int from = 0; from < json.length; from += piece) {
      strings.take(json, from, Math.min(json.length, from + piece));
    }
    assertThat(found.strings).as(writer.json.toString()).isEqualTo(writer.expected);
    assertThat(found.rest.toString(StandardCharsets.UTF_8)).isEqualTo(writer.rest.toString());
  }

  @Property
  void whatever_comes_goes_somewhere(@ForAll byte[] any) {
    Found found = new Found();
    new PlacedStrings(List.of(), WANTED, found).take(any, 0, any.length);
    assertThat(found.rest.size()).isLessThanOrEqualTo(any.length);
  }

  @Test
  void short_strings_are_stored_as_they_were_before() {
    assertThat(printed(rows(Bodies.explode("{\"a\":\"xy\\u0000\",\"b\":[\"\"]}"))))
        .containsExactly("\\x02a\\x00 = \\x02xy\\x00\\xff\\x00", "\\x02b\\x00\\x14 = \\x02\\x00");
  }

  @Test
  void long_strings_are_stored_in_pieces() {
    String text = "a".repeat(99_995) + "b".repeat(100_000) + "c";

    List<Leaf> rows = rows(Bodies.explode("{\"s\":\"" + text + "\",\"t\":1}"));

    assertThat(rows.stream().map(row -> ByteArrayUtil.printable(row.path())))
        .containsExactly(
            "\\x02s\\x00", "\\x02s\\x00B\\x15\\x01", "\\x02s\\x00B\\x15\\x02", "\\x02t\\x00");
    assertThat(ByteArrayUtil.printable(rows.get(0).value()))
        .isEqualTo("B\\x17\\x03\\x0d\\x3c".replace("\\x3c", "<") + "a".repeat(99_995));
    assertThat(rows.get(1).value()).isEqualTo(ascii("b".repeat(100_000)));
    assertThat(rows.get(2).value()).isEqualTo(ascii("c"));
  }

  @ParameterizedTest
  @CsvSource({
    "99998, 1",
    "99999, 2",
    "199995, 2",
    "199996, 3",
    "299995, 3",
    "299996, 4",
    "7999000, 80",
  })
  void a_piece_ends_where_a_value_is_full(int characters, int rows) {
    assertComesBack("x".repeat(characters), rows);
  }

  @ParameterizedTest
  @ValueSource(strings = {"é", "€", "\ud83d\ude00", "\\u0000", "\\\"", "\\u0001"})
  void pieces_end_between_characters(String wide) {
    for (int before = 99_995 - 5; before <= 99_995; before++) {
      assertComesBack("x".repeat(before) + wide.repeat(9), 2);
      assertComesBack("x".repeat(before) + wide.repeat(50_000 / 3) + "y".repeat(70_000), -1);
    }
  }

  @Test
  void a_long_string_is_one_leaf_with_one_hash() {
    String text = "x".repeat(250_000);
    ExplodedBody body = Bodies.explode("{\"a\":{\"b\":\"" + text + "\"}}");
    assertThat(body.leaves()).hasSize(1);
    assertThat(body.leaves().get(0).value()).hasSize(text.length() + FRAME);
    assertThat(body.rows()).isEqualTo(3);
  }

  @Property(tries = 50)
  void bodies_with_long_strings_come_back(@ForAll("objects") Map<String, Object> object) {
    String json = JsonModel.write(object, new Random(object.size()));
    ExplodedBody body = Bodies.explode(json);
    List<Leaf> rows = rows(body);
    assertThat(body.rows()).isEqualTo(rows.size());
    assertThat(body.storedBytes())
        .isEqualTo(rows.stream().mapToLong(it -> it.path().length + it.value().length).sum());
    assertThat(rows).allMatch(row -> row.value().length <= JsonLimits.STORE_VALUE_BYTES);
    assertThat(rows).isSortedAccordingTo(Leaf.BY_PATH);
    JsonBuffer assembled = Bodies.assemble(rows);
    assertThat(assembled.length()).isEqualTo(body.jsonBytes());
    assertThat(JsonModel.read(assembled.toBytes())).isEqualTo(object);
    assertThat(list(shuffled(rows)).hasLeavesOf(LeafList.of(body).root())).isTrue();
  }

  /**
   * Long strings next to each other, and next to paths with the same prefixes as theirs and their
   * pieces'.
   */
  @Provide
  Arbitrary<Map<String, Object>> objects() {
    Arbitrary<String> names =
        Arbitraries.of("", "a", "a\0", "a\0B\0", "aB", "B", "\0", "b", "0", "ab\ud83d\ude00");
    Arbitrary<Object> texts =
        Arbitraries.of("x", "é", "€", "\0", "\ud83d\ude00", "x\0é", "\"")
            .flatMap(
                unit ->
                    Arbitraries.integers()
                        .between(99_990, 100_010)
                        .flatMap(
                            bytes ->
                                Arbitraries.of(0, 100_000, 200_000)
                                    .map(more -> text(unit, bytes + more))));
    Arbitrary<Object> lists = texts.list().ofMaxSize(2).map(Object.class::cast);
    Arbitrary<Object> others = Arbitraries.of("", "x", true);
    return Arbitraries.maps(names, Arbitraries.oneOf(texts, others, lists)).ofMaxSize(3);
  }

  private static String text(String unit, int bytes) {
    int unitBytes = unit.getBytes(StandardCharsets.UTF_8).length + (unit.contains("\0") ? 1 : 0);
    return unit.repeat(bytes / unitBytes) + "x".repeat(bytes % unitBytes);
  }

  @Test
  void a_string_without_one_of_its_pieces_is_no_string() {
    List<Leaf> rows = rows(Bodies.explode("{\"a\":\"" + "x".repeat(450_000) + "\",\"b\":1}"));
    assertThat(rows).hasSize(6);
    for (int gone = 0; gone < 5; gone++) {
      List<Leaf> torn = new ArrayList<>(rows);
      torn.remove(gone);
      assertTorn(torn);
      assertTorn(torn.subList(0, 4));
    }
    List<Leaf> doubled = new ArrayList<>(rows);
    doubled.add(5, new Leaf(number(rows.get(0), 5), ascii("x")));
    assertThatThrownBy(() -> Bodies.assemble(doubled)).isInstanceOf(MalformedTupleException.class);
    List<Leaf> longer = new ArrayList<>(rows);
    longer.set(4, new Leaf(rows.get(4).path(), ascii("x".repeat(60_000))));
    assertTorn(longer);
    List<Leaf> elsewhere = new ArrayList<>(rows);
    elsewhere.set(2, new Leaf(number(rows.get(0), 7), rows.get(2).value()));
    assertTorn(elsewhere);
  }

  private static byte[] number(Leaf first, int number) {
    return ByteArrayUtil.join(first.path(), new byte[] {0x42, 0x15, (byte) number});
  }

  private static void assertTorn(List<Leaf> rows) {
    assertThatThrownBy(() -> Bodies.assemble(rows)).isInstanceOf(MalformedTupleException.class);
    assertThatThrownBy(() -> list(rows).child(LeafView.Step.of("a")).utf8())
        .isInstanceOf(RuntimeException.class);
  }

  @Test
  void the_first_row_tells_the_type_alone() {
    List<Leaf> rows = rows(Bodies.explode("{\"a\":\"" + "x".repeat(450_000) + "\"}"));
    LeafView string = list(rows.subList(0, 1)).child(LeafView.Step.of("a"));
    assertThat(string.type()).isEqualTo(LeafType.STRING);
    assertThatThrownBy(string::string).isInstanceOf(MalformedTupleException.class);
  }

  @Test
  void a_length_that_no_string_has_is_malformed() {
    byte[] path = rows(Bodies.explode("{\"a\":1}")).get(0).path();
    byte[] huge = {0x42, 0x18, 0x7f, 0, 0, 0, 'x'};
    assertThatThrownBy(() -> list(List.of(new Leaf(path, huge), new Leaf(number(path, 1), huge))))
        .isInstanceOf(MalformedTupleException.class);
    byte[] empty = {0x42, 0x14};
    assertThatThrownBy(() -> Bodies.assemble(List.of(new Leaf(path, empty))))
        .isInstanceOf(MalformedTupleException.class);
    byte[] ended = {0x42, 0x15, 3, 'x', 0, 'y'};
    assertThatThrownBy(() -> Bodies.assemble(List.of(new Leaf(path, ended))))
        .isInstanceOf(MalformedTupleException.class);
  }

  private static byte[] number(byte[] path, int number) {
    return number(new Leaf(path, path), number);
  }

  private static void assertComesBack(String quoted, int rowsExpected) {
    String json = "{\"a\":\"x\",\"s\":\"" + quoted + "\",\"s\\u0000\":[{}]}";
    ExplodedBody body = Bodies.explode(json);
    List<Leaf> rows = rows(body);
    assertThat(rows).hasSize(body.rows());
    if (rowsExpected > 0) {
      assertThat(rows).hasSize(rowsExpected + 2);
    }
    rows.forEach(PlacedStringsTest::assertWellFormed);
    assertThat(Bodies.assemble(rows).toString()).isEqualTo(json);
    assertThat(Bodies.assemble(body.leaves()).toString()).isEqualTo(json);
    assertThat(list(shuffled(rows)).child(LeafView.Step.of("s")).utf8())
        .isEqualTo(LeafList.of(body).root().child(LeafView.Step.of("s")).utf8());
  }

  /** A piece is well-formed text by itself, once NULs are unescaped. */
  private static void assertWellFormed(Leaf row) {
    boolean first = StringParts.areBegunBy(row.value());
    String latin = new String(row.value(), StandardCharsets.ISO_8859_1);
    String text = first ? latin.substring(HEAD) : latin;
    try {
      StandardCharsets.UTF_8
          .newDecoder()
          .decode(
              ByteBuffer.wrap(
                  text.replace("\0\u00ff", "\0").getBytes(StandardCharsets.ISO_8859_1)));
    } catch (CharacterCodingException e) {
      throw new AssertionError("A piece is cut within a character", e);
    }
  }

  private static List<Leaf> rows(ExplodedBody body) {
    List<Leaf> rows = new ArrayList<>();
    body.forEachRow((path, value) -> rows.add(new Leaf(path, value)));
    return rows;
  }

  private static LeafView list(List<Leaf> rows) {
    LeafList list = new LeafList(0);
    rows.forEach(row -> list.add(row.path(), row.value()));
    return list.root();
  }

  private static List<Leaf> shuffled(List<Leaf> rows) {
    List<Leaf> shuffled = new ArrayList<>(rows);
    Collections.shuffle(shuffled, new Random(rows.size()));
    return shuffled;
  }

  private static List<String> printed(List<Leaf> rows) {
    return rows.stream()
        .map(
            row ->
                ByteArrayUtil.printable(row.path()) + " = " + ByteArrayUtil.printable(row.value()))
        .toList();
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }
}
