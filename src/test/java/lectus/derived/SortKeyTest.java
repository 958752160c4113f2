package lectus.derived;

import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.KeyValue;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import lectus.json.JsonValue;
import lectus.json.LeafView;
import lectus.store.testing.GoldenRows;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

/** The bytes of values, and that they have the order of the values. */
final class SortKeyTest {
  private static final int LONG = 1_000_000;

  private static LeafView view(String json) {
    return Arguments.view(Documents.json(json));
  }

  private static byte[] key(String json, int mostBytes) {
    return SortKey.of(view(json), mostBytes).bytes();
  }

  private static int order(String a, String b, int mostBytes) {
    return Integer.signum(Arrays.compareUnsigned(key(a, mostBytes), key(b, mostBytes)));
  }

  @Test
  void golden_bytes() {
    Map<String, String> values =
        Map.of(
            "null", "null",
            "false", "false",
            "true", "true",
            "one", "1",
            "a negative fraction", "-2.5",
            "two to the 53rd and one", "9007199254740993",
            "a string", "'aBü'",
            "an array", "[1,[],'x']",
            "an object", "{'b':null,'a':{}}");
    GoldenRows golden = GoldenRows.of("SortKey");

    golden.assertAre(
        values.values().stream()
            .map(json -> new KeyValue(new byte[0], key(json, LONG)))
            .collect(Collectors.toList()));
    values.forEach(
        (title, json) -> assertThat(golden.value(title)).as(title).isEqualTo(key(json, LONG)));
  }

  @Property(edgeCases = EdgeCasesMode.NONE)
  void bytes_have_the_order_of_values(@ForAll("values") String a, @ForAll("values") String b) {
    int expected = Integer.signum(Collation.ORDER.compare(view(a), view(b)));

    assertThat(order(a, b, LONG)).as("%s and %s", a, b).isEqualTo(expected);
    for (int most : List.of(1, 2, 5, 12, 30)) {
      int cut = order(a, b, most);
      assertThat(cut == 0 || cut == expected).as("%s and %s cut at %s", a, b, most).isTrue();
      assertThat(key(a, most).length).isLessThanOrEqualTo(most);
    }
  }

  @Property(edgeCases = EdgeCasesMode.NONE)
  void no_key_is_the_beginning_of_another(@ForAll("values") String a, @ForAll("values") String b) {
    byte[] one = key(a, LONG);
    byte[] other = key(b, LONG);
    boolean isBeginning =
        one.length < other.length && Arrays.equals(one, Arrays.copyOf(other, one.length));

    assertThat(isBeginning).as("%s and %s", a, b).isFalse();
  }

  @Property(tries = 300, edgeCases = EdgeCasesMode.NONE)
  void long_strings_have_the_order_of_their_beginnings(
      @ForAll("values") String a, @ForAll("values") String b, @ForAll boolean isEarly) {
    String text = "äbC ".repeat(1_000);
    String one = "[" + (isEarly ? a + "," : "") + "'" + text + "'," + a + "]";
    String other = "[" + (isEarly ? b + "," : "") + "'" + text + "'," + b + "]";
    int expected = Integer.signum(Collation.ORDER.compare(view(one), view(other)));

    int cut = order(one, other, 500);
    assertThat(cut == 0 || cut == expected).isTrue();
    assertThat(order("'" + text + "a'", "'" + text + "b'", 500)).isZero();
    assertThat(order("'" + text + "a'", "'" + text + "b'", LONG)).isEqualTo(-1);
    assertThat(order("'" + text + "'", "'" + text.replace('ä', 'z') + "'", 500)).isEqualTo(-1);
  }

  @Test
  void characters_that_count_for_nothing_cost_little() {
    String text = "'" + "\\u0001".repeat(200_000) + "a'";

    assertThat(SortKey.of(view(text), 1_000).isCut()).isTrue();
    assertThat(SortKey.of(view(text), 1_000).bytes()).hasSizeLessThan(1_001);
  }

  @Test
  void a_key_tells_whether_it_is_cut() {
    int bytesOfNul = 2;
    int bytes = key("'abc'", LONG).length - 1 + bytesOfNul;

    assertThat(SortKey.of(view("'abc'"), bytes).isCut()).isFalse();
    assertThat(SortKey.of(view("'abc'"), bytes - 1).isCut()).isTrue();
    assertThat(SortKey.of(view("['abc','abc','abc']"), bytes).isCut()).isTrue();
  }

  @Property(edgeCases = EdgeCasesMode.NONE)
  void long_strings_are_cut_where_their_whole_keys_would_be(
      @ForAll("longStrings") String text, @ForAll @IntRange(min = 2, max = 300) int bytes) {
    SortKey whole = SortKey.of(new JsonValue.JsonString(text), 10 * LONG);
    SortKey cut = SortKey.of(new JsonValue.JsonString(text), bytes);

    assertThat(whole.isCut()).isFalse();
    assertThat(cut.isCut()).isTrue();
    assertThat(cut.bytes()).isEqualTo(Arrays.copyOf(whole.bytes(), bytes));
  }

  /**
   * Letters of several scripts, marks that combine and reorder, contractions, ignored characters.
   */
  @Provide
  Arbitrary<String> longStrings() {
    Arbitrary<String> unit =
        Arbitraries.of(
            "a",
            "B",
            " ",
            "z",
            "ü",
            "u\u0308",
            "\u0323\u0301",
            "\u0000",
            "\u00ad",
            "漢",
            "か\u3099",
            "한",
            "\u1112\u1161\u11ab",
            "ก",
            "เก",
            "я",
            "й",
            "ا",
            "🙂",
            "\u0f71\u0f72",
            "9",
            "-",
            "\uffff");
    Arbitrary<String> word = unit.list().ofMinSize(1).ofMaxSize(12).map(it -> String.join("", it));
    Arbitrary<String> run =
        Combinators.combine(word, Arbitraries.integers().between(1, 600)).as(String::repeat);
    return run.list().ofMinSize(1).ofMaxSize(6).map(it -> String.join("", it) + "x".repeat(2_000));
  }

  @Provide
  Arbitrary<String> values() {
    return values(2);
  }

  private static Arbitrary<String> values(int depth) {
    Arbitrary<String> scalars =
        Arbitraries.frequencyOf(
            Tuple.of(
                4,
                Arbitraries.of(
                    "null",
                    "false",
                    "true",
                    "0",
                    "-0.0",
                    "1",
                    "1.0",
                    "-1",
                    "0.1",
                    "1e300",
                    "-1e300",
                    "9007199254740992",
                    "9007199254740993",
                    "9007199254740992.0",
                    "-9007199254740993",
                    "1" + "0".repeat(400),
                    "1" + "0".repeat(399) + "1",
                    "-1" + "0".repeat(400),
                    "18446744073709551616",
                    "18446744073709551617")),
            Tuple.of(
                4,
                Arbitraries.of(
                    "''",
                    "'a'",
                    "'A'",
                    "'ä'",
                    "'a\\u0308'",
                    "'b'",
                    "'aa'",
                    "'ab'",
                    "'a b'",
                    "'a-b'",
                    "'\\u0000'",
                    "'a\\u0000'",
                    "'\\uffff'",
                    "'😀'",
                    "'ß'",
                    "'ss'",
                    "'10'",
                    "'9'")),
            Tuple.of(2, strings()));
    return depth == 0
        ? scalars
        : Arbitraries.frequencyOf(
            Tuple.of(6, scalars),
            Tuple.of(
                1,
                values(depth - 1)
                    .list()
                    .ofMaxSize(3)
                    .map(each -> "[" + String.join(",", each) + "]")),
            Tuple.of(1, values(depth - 1).list().ofMaxSize(2).map(each -> object(each))));
  }

  private static Arbitrary<String> strings() {
    return Arbitraries.strings()
        .withChars("abAB é-\u0301")
        .ofMaxLength(12)
        .map(text -> "'" + text + "'");
  }

  private static String object(List<String> values) {
    String[] names = {"'a':", "'b':"};
    StringBuilder object = new StringBuilder("{");
    for (int i = 0; i < values.size(); i++) {
      object.append(i == 0 ? "" : ",").append(names[i]).append(values.get(i));
    }
    return object.append('}').toString();
  }
}
