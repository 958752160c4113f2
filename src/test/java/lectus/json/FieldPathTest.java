package lectus.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.apple.foundationdb.tuple.Tuple;
import java.util.Arrays;
import java.util.List;
import lectus.error.LectusException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FieldPathTest {
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
